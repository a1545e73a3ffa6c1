package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// countProto walks a message without building it: what follows would take many times its
// bytes. left is how many messages it may still hold.
func countProto(b []byte, of protoreflect.MessageDescriptor, depth int, left *int) error {
	if depth == 0 {
		return errTooDeep
	}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errMalformed
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return errMalformed
		}
		value := b[:n]
		b = b[n:]
		field := of.Fields().ByNumber(number)
		if kind != protowire.BytesType || field == nil || (field.Message() == nil && !field.IsList()) {
			continue
		}
		if *left--; *left < 0 {
			return errTooMany
		}
		if field.Message() == nil {
			continue
		}
		inner, _ := protowire.ConsumeBytes(value)
		if err := countProto(inner, field.Message(), depth-1, left); err != nil {
			return err
		}
	}
	return nil
}

// countJSON counts the values that begin with a bracket or a quote, and how deep the brackets nest.
func countJSON(b []byte, depth, left int) error {
	level, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; quoted {
				left--
			}
		case quoted:
		case c == '{' || c == '[':
			if left--; level >= depth {
				return errTooDeep
			}
			level++
		case c == '}' || c == ']':
			level--
		}
		if left < 0 {
			return errTooMany
		}
	}
	return nil
}
