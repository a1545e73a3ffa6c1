// Package enginelog reads an engine's log as it is written and counts the lines that it
// knows: in flow a file, a systemd unit's journal or a container's output, out flow
// *probes.EngineLog sections with counts by kind and the numbers of each kind's last line.
//
// Nothing else of a line leaves the package, since lines can hold prompts: not in a section,
// not in an error. What is known is a table, one file an engine; a line is looked through for
// a literal of each row first, so that lines of no interest cost next to nothing.
//
// Lines are counted, not what they tell of: an engine that prints an error once a rank and
// once more where it is caught has several lines for one error. What they mean is left to
// package rules.
//
// Reading follows tail -F. Lines that were there when reading began do not count; the last
// 256 KiB of them set the last numbers. Counts go on over rotation and over a restarted
// engine, and begin anew when the source is another.
package enginelog
