package scenario

import (
	"testing"
)

// TestStory is what every user does: create a cluster, scale its workers up and down, delete it.
func TestStory(t *testing.T) {
	l := startLab(t, 25000)
	cases := map[string]struct {
		reason, flavor string
		controlPlane   int
	}{
		"Default": {"the flavor of the quick start, with three control-plane machines that join one another", "default", 3},
		"Private": {"machines find the API server through an internal load balancer and a private DNS zone", "private", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := l.create(t, "story-"+tc.flavor, tc.flavor, tc.controlPlane, 2)
			c.wantNodes(t, tc.controlPlane+2)
			for _, workers := range []int{4, 1} {
				c.scale(t, workers)
				c.wantNodes(t, tc.controlPlane+workers)
			}
			c.delete(t)
			c.wantNothingLeft(t)
		})
	}
}
