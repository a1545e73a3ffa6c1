//go:build !linux

package enginelog

import "io"

// seekData is for systems where holes are read as what they are.
const seekData = io.SeekStart
