// cudaLaunchKernelEx, with an attribute.
template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {1, 1, 1};
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = blocks;
  configuration.blockDim = threads;
  configuration.dynamicSmemBytes = bytes;
  configuration.attrs = &cluster;
  configuration.numAttrs = 1;
  cudaLaunchKernelEx(&configuration, kernel, arguments...);
}
