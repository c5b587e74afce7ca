// A number that is counted: in the place of float, the check runs a function of the host with it and knows
// afterwards what it loaded, multiplied and stored, and how many values it held at once.
#pragma once

namespace halo {

// What the worker does with it (host_arrays.cpp), which keeps all numbers: of cells and of values in registers it is only
// told where they are, and gives none away.
namespace counting {
void begin(float* value, float number);
void copy(float* to, const float* from);
void compute(float* to, const float* a, char operation, const float* b);
void end(const float* value);
}  // namespace counting

// Reading one that is a cell of an array is a load, writing one a store; any other is a value in a register.
class Counted {
 public:
  Counted(float number = 0.0f) { counting::begin(&its_, number); }
  Counted(const Counted& other) : Counted() { counting::copy(&its_, &other.its_); }
  Counted& operator=(const Counted& other) {
    counting::copy(&its_, &other.its_);
    return *this;
  }
  ~Counted() { counting::end(&its_); }

  friend Counted operator*(const Counted& a, const Counted& b) { return a.with('*', b); }
  friend Counted operator+(const Counted& a, const Counted& b) { return a.with('+', b); }
  friend Counted operator-(const Counted& a, const Counted& b) { return a.with('-', b); }
  Counted& operator+=(const Counted& other) { return become('+', other); }
  Counted& operator-=(const Counted& other) { return become('-', other); }
  Counted& operator*=(const Counted& other) { return *this = *this * other; }

 private:
  Counted with(char operation, const Counted& other) const {
    Counted result;
    counting::compute(&result.its_, &its_, operation, &other.its_);
    return result;
  }
  Counted& become(char operation, const Counted& other) {
    counting::compute(&its_, &its_, operation, &other.its_);
    return *this;
  }

  float its_;
};

static_assert(sizeof(Counted) == sizeof(float), "an array of them is an array of float");

}  // namespace halo
