/* -DSTUB: the library that CUDA brings to link with. Starting it warns, and does not work. */
#include "fake.h"

#ifdef STUB
const char warning[] __attribute__((used)) =
	"libnvidia-ml.so in GDK package is a stub library that is attached only for build purposes";

/* a process that starts it has not recognised it */
__attribute__((noreturn)) void started_the_stub(void)
{
	fputs(warning, stderr);
	exit(3);
}
#endif
