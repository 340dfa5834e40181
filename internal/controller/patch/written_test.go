package patch

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestOutdated(t *testing.T) {
	at := func(uid types.UID, version string) *infrav1.AzureMachine {
		return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version, Finalizers: []string{infrav1.MachineFinalizer}}}
	}
	ended := at("a", "120")
	ended.Finalizers, ended.DeletionTimestamp = nil, &metav1.Time{Time: time.Unix(0, 0)}

	var written Written
	for _, step := range []struct {
		reason string
		wrote  *infrav1.AzureMachine
		read   *infrav1.AzureMachine
		want   bool
	}{
		{reason: "nothing was written yet", read: at("a", "90")},
		{reason: "the cache lags behind", wrote: at("a", "100"), read: at("a", "99"), want: true},
		{reason: "versions are numbers, not words", read: at("a", "9"), want: true},
		{reason: "another object", read: at("b", "99")},
		{reason: "what was written has arrived", read: at("a", "100")},
		{reason: "it is asked for once", read: at("a", "99")},
		{reason: "somebody wrote after us", wrote: at("a", "110"), read: at("a", "111")},
		{reason: "an object that the write has ended is not waited for", wrote: ended, read: at("a", "119")},
	} {
		if step.wrote != nil {
			written.wrote(step.wrote)
		}
		if got := written.Outdated(step.read); got != step.want {
			t.Errorf("%s: outdated %t", step.reason, got)
		}
	}
}
