/* Field values: numbered readings, several in one call, each with a type and a status. */
#include "fake.h"

#ifndef MINIMAL
enum { F64 = 0, U32 = 1, UL = 2, U64 = 3, I64 = 4, I32 = 5, U16 = 6 };
typedef struct { unsigned id, scope; long long timestamp, latency; int type; ret ret; unsigned char value[8]; } field;

_Static_assert(sizeof(field) == 40, "ABI of NVML");

static int type_of(unsigned id, const char *word)
{
	static const struct { const char *word; int type; } types[] = {
		{ "f64", F64 }, { "u32", U32 }, { "u64", U64 }, { "i64", I64 }, { "i32", I32 }, { "u16", U16 },
	};
	for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(word, types[i].word))
			return types[i].type;
	return id == 82 || id == 91 || id == 185 || id == 186 || id == 230 ? U32 : U64;
}

/* put writes as many bytes as the type has, and leaves the others as they were */
static void put(field *f, const char *number, double grown)
{
	union { double f64; unsigned u32; unsigned long long u64; long long i64; int i32; unsigned short u16; } v;
	size_t size = 8;
	switch (f->type) {
	case F64: v.f64 = strtod(number, NULL); break;
	case I64: v.i64 = strtoll(number, NULL, 0); break;
	case U32: v.u32 = (unsigned)strtoul(number, NULL, 0), size = 4; break;
	case I32: v.i32 = (int)strtol(number, NULL, 0), size = 4; break;
	case U16: v.u16 = (unsigned short)strtoul(number, NULL, 0), size = 2; break;
	default: v.u64 = strchr(number, '+') ? (unsigned long long)grown : strtoull(number, NULL, 0);
	}
	memcpy(f->value, &v, size);
}

static void answer(int gpu, field *f)
{
	char key[40], number[32], word[16] = "";
	if (!f->scope)
		snprintf(key, sizeof key, "field.%u", f->id);
	else if (f->scope == ~0u)
		snprintf(key, sizeof key, "field.%u.all", f->id);
	else
		snprintf(key, sizeof key, "field.%u.%u", f->id, f->scope);
	const char *value = text_at(gpu, key, now());
	f->ret = NOT_SUPPORTED;
	if (!value || sscanf(value, "%31s %15s", number, word) < 1)
		return;
	if (!strcmp(number, "error")) {
		f->ret = atoi(word);
		return;
	}
	f->ret = OK;
	f->type = type_of(f->id, word);
	put(f, number, number_at(gpu, key, now(), 0));
}

API ret nvmlDeviceGetFieldValues(device d, int count, field *fields)
{
	ENTER(d, "FieldValues");
	if (count < 1)
		return INVALID;
	for (int i = 0; i < count; i++)
		answer(d.gpu->index, &fields[i]);
	return OK;
}
#endif
