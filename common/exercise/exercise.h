// What an exercise's file says to the check: which function to call. The check runs in another process,
// which makes the inputs, keeps what is expected, and never sees more of the file than its outputs.
#pragma once

#include <cstdio>  // for printf in your kernel
#include <initializer_list>

namespace halo {

// The arguments of one call, as the check sent them. Arrays are in the memory of the machine that runs the
// kernel, 256-byte aligned; of several outputs the first is.
struct ExerciseArguments {
  const float* const* inputs;
  float* const* outputs;
  const long long* numbers;
};

class Counted;  // counted.h

// A function `int launch(...)`, which starts the kernels, does not wait for them, and returns the CUDA error
// code of the launch (0: none). Its parameters are const float* for inputs, float* or int* for outputs, and
// int for numbers, each kind in the order of the exercise's page.
class Exercise {
 public:
  template <class... Types>
  Exercise(int (*launch)(Types...))
      : function_(reinterpret_cast<void (*)()>(launch)), call_(call<Types...>) {
    (void)std::initializer_list<int>{(count(static_cast<Types*>(nullptr)), 0)...};
  }

  // Instead of a launch: a function of the host, of float and of Counted. It is given copies of the arrays in
  // host memory, and what the second does is counted.
  template <class... Types, class... CountedTypes>
  static Exercise on_the_host(void (*function)(Types...), void (*counted)(CountedTypes...)) {
    Exercise exercise;
    exercise.function_ = reinterpret_cast<void (*)()>(function);
    exercise.call_ = call_on_the_host<Types...>;
    exercise.counted_ = reinterpret_cast<void (*)()>(counted);
    exercise.call_counted_ = call_on_the_host<CountedTypes...>;
    (void)std::initializer_list<int>{(exercise.count(static_cast<Types*>(nullptr)), 0)...};
    return exercise;
  }
  bool is_on_the_host() const { return counted_ != nullptr; }
  // The function of Counted, if it is one of the host; cells are floats here too.
  void run_counted(const ExerciseArguments& arguments) const { call_counted_(counted_, arguments); }

  int operator()(const ExerciseArguments& arguments) const { return call_(function_, arguments); }
  // How many parameters of each kind.
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  int numbers() const { return numbers_; }
  // Whether this output is an int*.
  bool is_whole(int output) const { return (whole_ >> output & 1) != 0; }

 private:
  Exercise() = default;
  void count(const float**) { ++inputs_; }
  void count(float**) { ++outputs_; }
  void count(int**) { whole_ |= 1 << outputs_++; }
  void count(int*) { ++numbers_; }

  // Takes the arguments from left to right.
  struct Next {
    const ExerciseArguments& arguments;
    int input = 0, output = 0, number = 0;
    void take(const float*& value) { value = arguments.inputs[input++]; }
    void take(float*& value) { value = arguments.outputs[output++]; }
    void take(const Counted*& value) {
      value = reinterpret_cast<const Counted*>(arguments.inputs[input++]);
    }
    void take(Counted*& value) { value = reinterpret_cast<Counted*>(arguments.outputs[output++]); }
    void take(int*& value) { value = reinterpret_cast<int*>(arguments.outputs[output++]); }
    void take(int& value) { value = static_cast<int>(arguments.numbers[number++]); }
    template <class Type>
    Type next() {
      Type value;
      take(value);
      return value;
    }
  };
  // Braces fix the order in which they are taken.
  template <class... Types>
  struct Bound {
    int (*launch)(Types...);
    int result;
    Bound(int (*function)(Types...), Types... values)
        : launch(function), result(function(values...)) {}
  };
  template <class... Types>
  static int call(void (*function)(), const ExerciseArguments& arguments) {
    Next next{arguments};
    return Bound<Types...>{reinterpret_cast<int (*)(Types...)>(function),
                           next.template next<Types>()...}
        .result;
  }

  template <class... Types>
  struct BoundOnTheHost {
    BoundOnTheHost(void (*function)(Types...), Types... values) { function(values...); }
  };
  template <class... Types>
  static int call_on_the_host(void (*function)(), const ExerciseArguments& arguments) {
    Next next{arguments};
    (void)BoundOnTheHost<Types...>{reinterpret_cast<void (*)(Types...)>(function),
                                   next.template next<Types>()...};
    return 0;
  }

  void (*function_)() = nullptr;
  int (*call_)(void (*)(), const ExerciseArguments&) = nullptr;
  void (*counted_)() = nullptr;
  int (*call_counted_)(void (*)(), const ExerciseArguments&) = nullptr;
  int inputs_ = 0, outputs_ = 0, numbers_ = 0;
  int whole_ = 0;  // a bit for each output
};

// At the end of the exercise's file: what the check calls.
Exercise exercise();

}  // namespace halo
