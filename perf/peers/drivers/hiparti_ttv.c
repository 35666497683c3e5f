/* SPDX-FileCopyrightText: Sporades contributors
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Calls HiParTI's product of a sparse tensor and a vector, which no program of HiParTI does: of
 * each mode once to warm up, then CALLS times. HiParTI prints "[CPU  SpTns * Vec]: ... s". For
 *   perf/peers/run --peer hiparti=FOLDER
 * compile it against an installed HiParTI, and put it where HiParTI's programs are:
 *   cc -O3 -fopenmp -I HIPARTI/include hiparti_ttv.c -L HIPARTI/build -lHiParTI -lm
 *     -o FOLDER/hiparti_ttv */
#include <HiParTI.h>
#include <stdlib.h>

static int multiply(ptiSparseTensor* X, ptiIndex mode, int calls) {
  ptiValueVector v;
  if (ptiNewValueVector(&v, X->ndims[mode], X->ndims[mode]) != 0) return 1;
  if (ptiConstantValueVector(&v, 0.5) != 0) return 1;
  printf("mode %lu\n", (unsigned long)mode);
  for (int call = 0; call <= calls; ++call) {
    ptiSemiSparseTensor Y;
    if (ptiSparseTensorMulVector(&Y, X, &v, mode) != 0) return 1;
    ptiFreeSemiSparseTensor(&Y);
  }
  ptiFreeValueVector(&v);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3 || atoi(argv[2]) < 1) {
    fprintf(stderr, "hiparti_ttv TENSOR CALLS: the tensor begins with its order and its dims\n");
    return 2;
  }
  ptiSparseTensor X;
  if (ptiLoadSparseTensor(&X, 1, argv[1]) != 0) return 1;
  ptiSparseTensorStatus(&X, stdout);
  for (ptiIndex mode = 0; mode < X.nmodes; ++mode)
    if (multiply(&X, mode, atoi(argv[2])) != 0) return 1;
  ptiFreeSparseTensor(&X);
  return 0;
}
