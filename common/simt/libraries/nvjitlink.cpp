// Stands before NVIDIA's nvJitLink, which makes machine code of PTX, and has none of its functions: whoever asks for them
// takes the driver's linker, which is here.
