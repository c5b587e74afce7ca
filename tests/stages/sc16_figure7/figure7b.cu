// Fig. 7b, with its names and its order. Line numbers at the right are the figure's.
#include "tests/stages/sc16_figure7/figure7.hpp"

namespace halo::sc16_figure7 {

// clang-format off
// [doc:listing]
template <int N, int C>
__global__ void OptTransformation(const float2* in, float* out) {
  int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x, by = blockIdx.y;
  //1 Matrix flatten 4D to 2D: [C][H][W][N]->[C*H*W][N]
  int D2_W = N/2;
  int D2_H = gridDim.y*gridDim.x*blockDim.x;
  //Shared Memory Tile for Subblock Transpose
  __shared__ float2 sh[C][33]; //Padding 1 float2                     //  7
  for (int i=0; i<N/64; i++) { //handle 64 images every time          //  8
    int m = by*gridDim.x*blockDim.y+bx*blockDim.y+ty;                 //  9
    //2 Subgrouping in Shared Memory
    int D3_H = m/32; int D3_W = m%32;                                 // 11
    int index = D3_W + D3_H*32;                                       // 12
    sh[ty][tx] = in[index*D2_W+tx+i*32];                              // 13
    __syncthreads();                                                  // 14
    //3 Vector Transpose Index
    if (C%32==0) {                                                    // 16
      out[(2*ty+i*64)*D2_H+(bx)*32+tx] = sh[tx][ty].x;                // 17
      out[(2*ty+1+i*64)*D2_H+(bx)*32+tx] = sh[tx][ty].y;              // 18
    } else if (C%16==0) {                                             // 19
      out[(2*ty+i*64)*D2_H+bx*32+tx] = sh[tx][ty].x;                  // 20
      out[(2*ty+1+i*64)*D2_H+bx*32+tx] = sh[tx][ty].y;                // 21
      out[(2*(ty+16)+i*64)*D2_H+bx*32+tx] = sh[tx][ty+16].x;          // 22
      out[(2*(ty+16)+1+i*64)*D2_H+bx*32+tx] = sh[tx][ty+16].y; }      // 23
    __syncthreads();                                                  // 24
  } //end loop
} //end kernel
// [/doc:listing]
// clang-format on

namespace {

template <int N, int C>
cudaError_t start(const float* input, float* output, dim3 grid) {
  const dim3 threads(32, C % 32 == 0 ? 32 : 16);
  OptTransformation<N, C><<<grid, threads>>>(reinterpret_cast<const float2*>(input), output);
  return cudaGetLastError();
}

}  // namespace

cudaError_t float2_tile(const float* input, float* output, int N, int C, int across, int down) {
  const dim3 grid(across, down);
  if (N == 64 && C == 32) return start<64, 32>(input, output, grid);
  if (N == 65 && C == 32) return start<65, 32>(input, output, grid);
  if (N == 96 && C == 32) return start<96, 32>(input, output, grid);
  if (N == 128 && C == 64) return start<128, 64>(input, output, grid);
  if (N == 64 && C == 3) return start<64, 3>(input, output, grid);
  if (N == 64 && C == 16) return start<64, 16>(input, output, grid);
  if (N == 64 && C == 48) return start<64, 48>(input, output, grid);
  return cudaErrorNotSupported;
}

}  // namespace halo::sc16_figure7
