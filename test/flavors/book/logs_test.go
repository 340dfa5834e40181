package book_test

import (
	"regexp"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// anyReplica matches commands for which kubectl chooses one of the manager's pods.
var anyReplica = regexp.MustCompile(`kubectl (?:logs|port-forward|exec)\b.* deploy(?:ment)?/capz-\S+`)

// TestReplicaOfManager holds that commands for the manager's log and endpoints do not reach the replica without the lease, which reconciles
// nothing.
func TestReplicaOfManager(t *testing.T) {
	t.Parallel()
	blocks, err := bookshell.ReadBlocks(flavors.RepositoryRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		for _, command := range anyReplica.FindAllString(block.Text, -1) {
			t.Errorf("%s: name all pods with --selector, or the holder of the lease, because only that one reconciles: %s", block.Place(), command)
		}
	}
}
