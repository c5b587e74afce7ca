#include <thrust/copy.h>
#include <thrust/device_vector.h>

int main() {
  thrust::device_vector<int> from(100), to(100);
  try {
    thrust::copy(from.begin(), from.end(), to.begin() + 1);
  } catch (const std::exception&) {
  }
  return 0;
}
