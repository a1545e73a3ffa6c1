// Package twin simulates an inference engine at the scale of GPUs: the scheduler, the block
// manager and the stage stamps are the engine's own, the time of a step comes from a cost model
// (package cost), the GPUs (device), the host (machine) and the engine's metrics page (exposition)
// are modelled as well. A Scenario is read from text; a Run of it is in virtual time and yields
// whole Samples, marked simulated, as probes.Source. Package live serves HTTP with the same parts
// in real time, under the real engine. docs/twin.md has the language and what is modelled.
package twin
