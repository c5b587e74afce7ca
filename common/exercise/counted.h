// A number that is counted: in the place of float, the check runs a function of the host with it and knows
// afterwards what it loaded, multiplied and stored, and how many values it held at once.
#pragma once

namespace halo {

// What the worker does with it (host_arrays.cpp).
namespace counting {
float sealed(float value);  // as a register keeps it: read as a float it is another number
float load(const void* cell, float kept);   // what the cell holds, or the value in a register
bool store(const void* cell, float value);  // false: it is a register
void multiply();
void begin(const void* value);
void end(const void* value);
}  // namespace counting

// Reading one that is a cell of an array is a load, writing one a store; any other is a value in a register. While it
// is counted what cells hold lies elsewhere: read as floats they are not numbers.
class Counted {
 public:
  Counted(float value = 0.0f) : kept_(counting::sealed(value)) { counting::begin(this); }
  Counted(const Counted& other) : Counted(other.get()) {}
  Counted& operator=(const Counted& other) { return set(other.get()); }
  ~Counted() { counting::end(this); }

  friend Counted operator*(const Counted& a, const Counted& b) {
    counting::multiply();
    return a.get() * b.get();
  }
  friend Counted operator+(const Counted& a, const Counted& b) { return a.get() + b.get(); }
  friend Counted operator-(const Counted& a, const Counted& b) { return a.get() - b.get(); }
  Counted& operator+=(const Counted& other) { return set(get() + other.get()); }
  Counted& operator-=(const Counted& other) { return set(get() - other.get()); }
  Counted& operator*=(const Counted& other) { return *this = *this * other; }

 private:
  float get() const { return counting::load(this, kept_); }
  Counted& set(float value) {
    if (!counting::store(this, value)) kept_ = counting::sealed(value);
    return *this;
  }

  float kept_;
};

static_assert(sizeof(Counted) == sizeof(float), "an array of them is an array of float");

}  // namespace halo
