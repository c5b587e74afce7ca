// What samples call of cuBLAS, on whole numbers, so that every sum is exact: a GPU computes the same. With `ours` also what
// cuBLAS on a GPU refuses, or has and the simulator has not; with `beyond` a product whose result does not fit.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int wrong = 0;
bool ours = false;

void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}

template <typename T>
struct Device {
  explicit Device(const std::vector<T>& values) : size(values.size()) {
    cudaMalloc(&data, size * sizeof(T));
    cudaMemcpy(data, values.data(), size * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(data); }
  std::vector<T> values() const {
    std::vector<T> all(size);
    cudaMemcpy(all.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost);
    return all;
  }
  std::size_t size;
  T* data = nullptr;
};

// Products of cublasLt: D = epilogue(A^T B), A and B of float, by columns.
struct Light {
  Light() {
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t turned = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, turned);
    cublasLtMatmulPreferenceCreate(&preference);
    const std::size_t workspace = 0;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, sizeof workspace);
  }
  ~Light() {
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatmulDescDestroy(product);
    cublasLtDestroy(handle);
  }
  template <typename T>
  cublasStatus_t set(cublasLtMatmulDescAttributes_t name, const T& value) {
    return cublasLtMatmulDescSetAttribute(product, name, &value, sizeof value);
  }
  cublasStatus_t run(const float* a, cublasLtMatrixLayout_t a_is, const float* b,
                     cublasLtMatrixLayout_t b_is, float* d, cublasLtMatrixLayout_t d_is,
                     cudaStream_t stream) {
    const float one = 1, zero = 0;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, product, a_is, b_is, d_is, d_is, preference, 1, &found, &count);
    if (status != CUBLAS_STATUS_SUCCESS || count != 1) return status;
    return cublasLtMatmul(handle, product, &one, a, a_is, b, b_is, &zero, d, d_is, d, d_is,
                          &found.algo, nullptr, 0, stream);
  }
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t product;
  cublasLtMatmulPreference_t preference;
};

void try_light(cudaStream_t stream) {
  Light light;
  // By columns: a = (1 2; 3 4), b = (1 3 5; 2 4 6); two of each, the second a all ones, d beside each other.
  const Device<float> a({1, 3, 2, 4, 1, 1, 1, 1}), b({1, 2, 3, 4, 5, 6});
  const Device<float> d(std::vector<float>(12)), bias({1000, -1000});
  cublasLtMatrixLayout_t a_is, b_is, d_is;
  cublasLtMatrixLayoutCreate(&a_is, CUDA_R_32F, 2, 2, 2);
  cublasLtMatrixLayoutCreate(&b_is, CUDA_R_32F, 2, 3, 2);
  cublasLtMatrixLayoutCreate(&d_is, CUDA_R_32F, 2, 3, 2);
  check(light.run(a.data, a_is, b.data, b_is, d.data, d_is, stream) == CUBLAS_STATUS_SUCCESS,
        "cublasLtMatmul's status");
  check(d.values() == std::vector<float>{7, 10, 15, 22, 23, 34, 0, 0, 0, 0, 0, 0},
        "cublasLtMatmul");
  const int count = 2;
  const std::int64_t strides[] = {4, 0, 6};
  cublasLtMatrixLayout_t layouts[] = {a_is, b_is, d_is};
  for (int i = 0; i < 3; ++i) {
    cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                     sizeof count);
    cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                     &strides[i], sizeof strides[i]);
  }
  light.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
  light.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.data);
  light.run(a.data, a_is, b.data, b_is, d.data, d_is, stream);
  check(d.values() == std::vector<float>{1007, 0, 1015, 0, 1023, 0, 1003, 0, 1007, 0, 1011, 0},
        "a batch with bias and ReLU");
  // Far from 0 GELU is x or 0, and its slope 1 or 0.
  const Device<float> before(std::vector<float>(12));
  light.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  light.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, before.data);
  light.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{2});
  light.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, std::int64_t{6});
  light.run(a.data, a_is, b.data, b_is, d.data, d_is, stream);
  check(d.values()[2] == 1015 && d.values()[3] == 0, "GELU");
  check(before.values()[2] == 1015 && before.values()[3] == -978, "what GELU was of");
  if (ours) {
    light.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
    light.run(a.data, a_is, b.data, b_is, d.data, d_is, stream);
    check(d.values()[2] == 15 && d.values()[3] == 0, "times GELU's slope");
    light.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADB);
    check(
        light.run(a.data, a_is, b.data, b_is, d.data, d_is, stream) == CUBLAS_STATUS_NOT_SUPPORTED,
        "an epilogue that is not there");
    light.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
    const cublasLtOrder_t by_rows = CUBLASLT_ORDER_ROW;
    const std::int64_t leading = 3;
    cublasLtMatrixLayoutSetAttribute(d_is, CUBLASLT_MATRIX_LAYOUT_ORDER, &by_rows, sizeof by_rows);
    cublasLtMatrixLayoutSetAttribute(d_is, CUBLASLT_MATRIX_LAYOUT_LD, &leading, sizeof leading);
    light.run(a.data, a_is, b.data, b_is, d.data, d_is, stream);
    check(d.values() == std::vector<float>{7, 15, 23, 10, 22, 34, 3, 7, 11, 3, 7, 11}, "by rows");
    light.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    check(
        light.run(a.data, a_is, b.data, b_is, d.data, d_is, stream) == CUBLAS_STATUS_NOT_SUPPORTED,
        "a bias by rows");
  }
  for (const auto layout : layouts) cublasLtMatrixLayoutDestroy(layout);
}

int main(int argc, char** argv) {
  ours = argc > 1 && std::string(argv[1]) == "ours";
  cublasHandle_t handle;
  check(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "create");
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  check(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS, "stream");
  const float one = 1, two = 2, zero = 0;
  const double one_d = 1, three_d = 3;

  // By columns: a = (1 3 5; 2 4 6), b = (1 4; 2 5; 3 6), and c with a row below that is not of it.
  const Device<float> a({1, 2, 3, 4, 5, 6}), b({1, 2, 3, 4, 5, 6}), c({7, 7, -1, 7, 7, -1});
  if (argc > 1 && !ours) {
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, a.data, 2, b.data, 3, &zero,
                c.data, 6);
    return 0;
  }
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &two, a.data, 2, b.data, 3, &one,
                    c.data, 3) == CUBLAS_STATUS_SUCCESS,
        "sgemm's status");
  check(c.values() == std::vector<float>{51, 63, -1, 105, 135, -1}, "sgemm");
  const Device<double> a_d({1, 2, 3, 4, 5, 6}), c_d({1, 1, 1, 1, 1, 1, 1, 1, 1});
  cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 3, 2, &one_d, a_d.data, 2, a_d.data, 2, &three_d,
              c_d.data, 3);
  check(c_d.values() == std::vector<double>{8, 14, 20, 14, 28, 42, 20, 42, 64}, "dgemm");
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, a.data, 1, b.data, 3, &zero,
                    c.data, 3) == CUBLAS_STATUS_INVALID_VALUE,
        "a leading dimension that is too small");

  const Device<float> many({1, 2, 3, 4}), products({0, 0});
  cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &one, many.data, 1, 2,
                            many.data, 1, 0, &zero, products.data, 1, 1, 2);
  check(products.values() == std::vector<float>{5, 11}, "strided batch");
  const Device<float*> left({many.data + 2, many.data}), right({many.data, many.data + 2}),
      results({products.data, products.data + 1});
  cublasSgemmBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &two, left.data, 2, right.data, 2,
                     &zero, results.data, 1, 2);
  check(products.values() == std::vector<float>{22, 22}, "batch");

  const Device<float> x({1, 0, 2, 0, 3}), y({10, 20});
  cublasSgemv(handle, CUBLAS_OP_N, 2, 3, &one, a.data, 2, x.data, 2, &two, y.data, 1);
  check(y.values() == std::vector<float>{42, 68}, "sgemv");
  cublasSgemv(handle, CUBLAS_OP_T, 2, 3, &one, a.data, 2, y.data, 1, &zero, x.data, 2);
  check(x.values() == std::vector<float>{178, 0, 398, 0, 618}, "sgemv of the transpose");
  cublasSaxpy(handle, 2, &two, y.data, -1, products.data, 1);
  check(products.values() == std::vector<float>{158, 106}, "saxpy from the end");
  cublasSscal(handle, 2, &two, products.data, 1);
  check(products.values() == std::vector<float>{316, 212}, "sscal");
  float all = 0;
  cublasSasum(handle, 5, a.data, 1, &all);
  check(all == 15, "sasum");
  // The transpose of a, and b beside it.
  const Device<float> both({0, 0, 0, 0, 0, 0});
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &one, a.data, 2, &two, b.data, 3, both.data,
              3);
  check(both.values() == std::vector<float>{3, 7, 11, 10, 14, 18}, "sgeam");

  const Device<__half> half_a({1, 2, 3, 4, 5, 6}), half_c({1, 1, 1, 1});
  const __half half_one = 1;
  cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 3, &half_one, half_a.data, 2, half_a.data, 2,
              &half_one, half_c.data, 2);
  const Device<float> wide({0, 0, 0, 0});
  check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 3, &one, half_a.data, CUDA_R_16F, 2,
                     half_a.data, CUDA_R_16F, 2, &zero, wide.data, CUDA_R_32F, 2,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
        "gemmEx's status");
  check(wide.values() == std::vector<float>{35, 44, 44, 56}, "gemmEx of half");
  for (std::size_t i = 0; i < 4; ++i) {
    check(__half2float(half_c.values()[i]) == wide.values()[i] + 1, "hgemm");
  }
  const Device<std::int8_t> bytes({1, 2, 3, 4, 5, 6, 7, 8});
  const Device<int> whole({0, 0, 0, 0});
  const auto multiply_bytes = [&](cublasOperation_t a_is, cublasOperation_t b_is, int k,
                                  int leading, int from) {
    const int one_i = 1, zero_i = 0;
    return cublasGemmEx(handle, a_is, b_is, 2, 2, k, &one_i, bytes.data + from, CUDA_R_8I, leading,
                        bytes.data, CUDA_R_8I, leading, &zero_i, whole.data, CUDA_R_32I, 2,
                        CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT);
  };
  multiply_bytes(CUBLAS_OP_T, CUBLAS_OP_N, 4, 4, 0);
  check(whole.values() == std::vector<int>{30, 70, 70, 174}, "gemmEx of bytes");
  check(multiply_bytes(CUBLAS_OP_N, CUBLAS_OP_T, 3, 2, 0) == CUBLAS_STATUS_NOT_SUPPORTED &&
            multiply_bytes(CUBLAS_OP_N, CUBLAS_OP_T, 2, 4, 0) == CUBLAS_STATUS_NOT_SUPPORTED &&
            multiply_bytes(CUBLAS_OP_T, CUBLAS_OP_N, 3, 4, 2) == CUBLAS_STATUS_NOT_SUPPORTED,
        "gemmEx of bytes that are no whole words");
  if (ours) {
    check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 3, &one, bytes.data, CUDA_R_8F_E4M3,
                       2, bytes.data, CUDA_R_8F_E4M3, 2, &zero, wide.data, CUDA_R_32F, 2,
                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED,
          "gemmEx of a type that is not there");
  }
  const Device<__half> half_many({1, 2, 3, 4}), half_products({0, 0});
  const __half half_zero = 0;
  cublasHgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &half_one, half_many.data, 1,
                            2, half_many.data, 1, 0, &half_zero, half_products.data, 1, 1, 2);
  check(__half2float(half_products.values()[1]) == 11, "hgemm's strided batch");
  const Device<float> sums({0, 0});
  cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &one, half_many.data,
                             CUDA_R_16F, 1, 2, half_many.data, CUDA_R_16F, 1, 0, &zero, sums.data,
                             CUDA_R_32F, 1, 1, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  check(sums.values() == std::vector<float>{5, 11}, "gemmEx's strided batch");
  const Device<void*> half_left({half_many.data + 2, half_many.data}),
      float_sums({sums.data, sums.data + 1});
  cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &two, half_left.data, CUDA_R_16F,
                      1, half_left.data, CUDA_R_16F, 1, &zero, float_sums.data, CUDA_R_32F, 1, 2,
                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  check(sums.values() == std::vector<float>{50, 10}, "gemmEx's batch");
  cublasSgemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &one, half_many.data, CUDA_R_16F, 1,
                half_many.data, CUDA_R_16F, 1, &zero, sums.data, CUDA_R_32F, 1);
  check(sums.values()[0] == 5, "sgemmEx");
  try_light(stream);
  if (ours) {
    check(cublasSswap(handle, 2, x.data, 1, x.data, 1) == CUBLAS_STATUS_NOT_SUPPORTED,
          "a function that is not there");
  }
  float strip[4] = {1, 2, 3, 4};
  cublasSetMatrixAsync(2, 2, sizeof(float), strip, 2, wide.data, 2, stream);
  cublasGetVectorAsync(2, sizeof(float), wide.data, 2, strip, 1, stream);
  cudaStreamSynchronize(stream);
  check(strip[1] == 3, "copies in a stream");
  float sum = 0;
  cublasSdot(handle, 2, y.data, 1, many.data, 2, &sum);
  check(sum == 42 + 3 * 68, "sdot");
  const Device<double> sides({3, 4}), length({0});
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  cublasDnrm2(handle, 2, sides.data, 1, length.data);
  cublasDscal(handle, 2, length.data, sides.data, 1);
  check(length.values() == std::vector<double>{5}, "dnrm2, to the device");
  check(sides.values() == std::vector<double>{15, 20}, "dscal, from the device");
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  const Device<double> copied({0, 0});
  cublasDcopy(handle, 2, sides.data, -1, copied.data, 1);
  check(copied.values() == std::vector<double>{20, 15}, "dcopy from the end");
  int greatest = 0;
  cublasIdamax(handle, 2, copied.data, 1, &greatest);
  check(greatest == 1, "idamax");
  // (0 2; 4 6): rows change places.
  const Device<float> square({0, 4, 2, 6});
  const Device<float*> squares({square.data});
  const Device<int> pivots({0, 0}), infos({-1});
  cublasSgetrfBatched(handle, 2, squares.data, 2, pivots.data, infos.data, 1);
  check(square.values() == std::vector<float>{4, 0, 6, 2}, "sgetrfBatched");
  check(pivots.values() == std::vector<int>{2, 2}, "its pivots");
  check(infos.values() == std::vector<int>{0}, "what it says");
  cublasSetStream(handle, stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  check(cublasSscal(handle, 1, &one, x.data, 1) == CUBLAS_STATUS_EXECUTION_FAILED, "in a capture");
  cudaGraph_t graph;
  check(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated, "its graph");
  check(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS, "destroy");
  check(cublasSscal(nullptr, 1, &one, x.data, 1) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  cudaStreamDestroy(stream);
  std::printf(wrong == 0 ? "all right\n" : "%d wrong\n", wrong);
}
