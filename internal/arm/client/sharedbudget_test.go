package client_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestProcessesShareLimits lets two processes with half of the limits each send as much as they may. It expects that Azure would refuse
// nothing, and that neither process waits for the other one.
func TestProcessesShareLimits(t *testing.T) {
	for name, test := range map[string]struct {
		reason   string
		send     func(c *client.Client) error
		interval time.Duration
		requests int
		// most is the limit of Azure, least what remains unused by rounding and for other tools.
		most, least int
	}{
		"a burst of reads": {
			reason: "the bucket of reads holds 250", interval: 0, requests: 300, most: 250, least: 220,
			send: func(c *client.Client) error {
				_, err := c.Get(context.Background(), arm.ResourceGroupID("s", "g"), "v", nil)
				return err
			},
		},
		"writes of a minute": {
			reason: "the bucket of writes holds 200 and gets ten a second", interval: 20 * time.Millisecond, requests: 3000, most: 800, least: 760,
			send: func(c *client.Client) error {
				_, err := c.Delete(context.Background(), arm.NewID("s", "g", "Microsoft.Compute/disks", "d"), "v", nil)
				return err
			},
		},
		"networks in five minutes": {
			reason: "Microsoft.Network takes 1,000 writes, and has no header for them", interval: 200 * time.Millisecond, requests: 1450, most: 1000,
			least: 940,
			send: func(c *client.Client) error {
				_, err := c.Put(context.Background(), arm.NewID("s", "g", "Microsoft.Network/networkInterfaces", "n"), "v",
					map[string]any{"location": "eastus"}, "")
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock, served := now, [2]int{}
			var shards []*client.Client
			for i := range served {
				shards = append(shards, serveClient(t, credential.Token("t"), client.NewBudgets(func() time.Time { return clock }, 0.5),
					func(w http.ResponseWriter, _ *http.Request) {
						served[i]++
						fmt.Fprint(w, `{}`)
					}))
			}
			for range test.requests {
				for _, shard := range shards {
					if err := test.send(shard); err != nil && !arm.IsBudgetEmpty(err) {
						t.Fatal(err)
					}
				}
				clock = clock.Add(test.interval)
			}
			if all := served[0] + served[1]; all > test.most || all < test.least {
				t.Errorf("%s: %d requests were sent, want %d to %d", test.reason, all, test.least, test.most)
			}
			if served[0] != served[1] {
				t.Errorf("%s: the processes sent %d and %d requests", test.reason, served[0], served[1])
			}
		})
	}
}
