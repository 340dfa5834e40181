package setup

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestShards checks the flags with which several managers divide the work.
func TestShards(t *testing.T) {
	for name, test := range map[string]struct {
		reason    string
		arguments []string
		lease     string
		share     float64
		fails     string
	}{
		"alone": {reason: "the lease of the established provider keeps both from working at a time", lease: "controller-leader-election-capz",
			share: 1},
		"shard": {reason: "managers with one lease would wait for each other",
			arguments: []string{"--watch-filter=one", "--leader-election-id=capz-one", "--azure-request-share=0.5"}, lease: "capz-one", share: 0.5},
		"no share": {reason: "the manager could send nothing", arguments: []string{"--azure-request-share=0"},
			fails: "--azure-request-share"},
		"more than all": {reason: "Azure would refuse requests", arguments: []string{"--azure-request-share=2"}, fails: "--azure-request-share"},
		"no number": {reason: "it is neither above nor below a limit", arguments: []string{"--azure-request-share=NaN"},
			fails: "--azure-request-share"},
		"no lease": {reason: "a Lease has a name", arguments: []string{"--leader-election-id="}, fails: "--leader-election-id"},
		"no name of a lease": {reason: "the API server would refuse it after the start", arguments: []string{"--leader-election-id=Shard_1"},
			fails: "--leader-election-id"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Options{}
			flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
			o.AddFlags(flags)
			if err := flags.Parse(test.arguments); err != nil {
				t.Fatal(err)
			}
			err := o.Validate()
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%s: error %v, want one of %s", test.reason, err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			options, _, err := o.managerOptions()
			if err != nil {
				t.Fatal(err)
			}
			if options.LeaderElectionID != test.lease || o.AzureRequestShare != test.share {
				t.Errorf("%s: lease %s and share %v", test.reason, options.LeaderElectionID, o.AzureRequestShare)
			}
		})
	}
}
