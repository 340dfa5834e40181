package setup

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
)

// TestGroupFlags makes sure that the help has each flag once: the manager's own in the group of their purpose, and only those of logging
// with logging.
func TestGroupFlags(t *testing.T) {
	fs, err := NewFlags(&Options{}, logs.NewOptions())
	if err != nil {
		t.Fatal(err)
	}
	own := pflag.NewFlagSet("own", pflag.ContinueOnError)
	(&Options{}).AddFlags(own)
	logging := pflag.NewFlagSet("logging", pflag.ContinueOnError)
	logsv1.AddFlags(logs.NewOptions(), logging)
	groups := GroupFlags(fs)
	grouped := map[string]string{}
	for _, name := range groups.Order {
		groups.FlagSets[name].VisitAll(func(f *pflag.Flag) {
			if other := grouped[f.Name]; other != "" {
				t.Errorf("--%s is in the groups %s and %s", f.Name, other, name)
			}
			grouped[f.Name] = name
		})
	}
	fs.VisitAll(func(f *pflag.Flag) {
		switch group := grouped[f.Name]; {
		case group == "":
			t.Errorf("--%s is in no group", f.Name)
		case group == loggingGroup && own.Lookup(f.Name) != nil:
			t.Errorf("--%s is a flag of the manager. Add it to a group of flagGroups", f.Name)
		case group != loggingGroup && logging.Lookup(f.Name) != nil:
			t.Errorf("--%s is a flag of logging, and in the group %s", f.Name, group)
		}
	})
	for _, group := range flagGroups {
		for _, name := range group.flags {
			if fs.Lookup(name) == nil {
				t.Errorf("the group %s has --%s, which does not exist", group.name, name)
			}
		}
	}
	if last := groups.Order[len(groups.Order)-1]; last != WithoutEffectGroup || !slices.Equal(groups.Order, slices.Compact(slices.Clone(groups.Order))) {
		t.Errorf("the groups are %q, and flags without effect have to come last", groups.Order)
	}
}
