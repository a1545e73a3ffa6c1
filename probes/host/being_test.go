package host

import (
	"os"
	"slices"
	"testing"
)

func TestBeing(t *testing.T) {
	me, ok := Meet("/", os.Getpid())
	if !ok || !me.Alive() || me.Owner() != os.Geteuid() || !slices.Equal(me.Argv(), os.Args) {
		t.Errorf("this process: %v, alive %v, owner %d, %q", ok, me.Alive(), me.Owner(), me.Argv())
	}
	m := newMachine(t)
	const stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 "
	m.put("7/stat", stat+"4242 1 1\n")
	b, ok := Meet(m.root, 7)
	if !ok || !b.Alive() {
		t.Fatal("it is not there")
	}
	for name, text := range map[string]string{"another one": stat + "4243 1 1\n", "a dead one": "7 (a) Z" + stat[10:] + "4242 1 1\n", "nonsense": "7 (a", "": ""} {
		m.put("7/stat", text)
		if b.Alive() {
			t.Errorf("%q passes for it", name)
		}
	}
	if _, ok := Meet(m.root, 8); ok || (Being{}).Alive() {
		t.Error("nobody is there")
	}
}
