package established_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
)

// TestBackupParts stores a backup that needs several Secrets, loads it, replaces it and deletes it. A backup that could not be loaded is not stored.
func TestBackupParts(t *testing.T) {
	createNamespace(t, "capz-system")
	list := func() (out []string) {
		secrets := &corev1.SecretList{}
		if err := api.client.List(t.Context(), secrets, client.InNamespace("capz-system")); err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets.Items {
			if strings.HasPrefix(secret.Name, backup.SecretName) {
				out = append(out, secret.Name)
			}
		}
		slices.Sort(out)
		return out
	}
	stored := &backup.Backup{From: "v1.26.0", Generations: map[types.UID]int64{}}
	for range 50_000 {
		stored.Generations[types.UID(fmt.Sprintf("%x", rand.Text()))] = 1
	}
	if err := stored.Store(t.Context(), api.client); err != nil {
		t.Fatal(err)
	}
	name := backup.SecretName
	if diff := cmp.Diff([]string{name, name + "-0", name + "-1"}, list()); diff != "" {
		t.Errorf("Secrets of the backup (-want +got):\n%s", diff)
	}
	if loaded, err := backup.Load(t.Context(), api.client); err != nil || !cmp.Equal(stored, loaded) {
		t.Errorf("the loaded backup differs from the stored one: %v", err)
	}
	// The second backup is incomplete until its index is stored, so the first one counts.
	later := &backup.Backup{From: "v1.26.1", Generations: stored.Generations}
	if err := later.Store(t.Context(), newMove(t, nil, 2).Client); !errors.Is(err, errKilled) {
		t.Fatalf("the program is not killed: %v", err)
	}
	if loaded, err := backup.Load(t.Context(), api.client); err != nil || !cmp.Equal(stored, loaded) {
		t.Errorf("the first backup is lost: %v", err)
	}
	for _, last := range []*backup.Backup{later, stored, later} {
		if err := last.Store(t.Context(), api.client); err != nil {
			t.Fatal(err)
		}
		if loaded, err := backup.Load(t.Context(), api.client); err != nil || !cmp.Equal(last, loaded) {
			t.Errorf("the loaded backup differs from the last one: %v", err)
		}
	}
	if err := backup.Delete(t.Context(), api.client); err != nil {
		t.Error(err)
	}
	large := &backup.Backup{From: strings.Repeat("v", 64<<20)}
	if err := large.Store(t.Context(), api.client); err == nil || !strings.Contains(err.Error(), "Move by hand") {
		t.Errorf("a backup of 64 MiB is stored: %v", err)
	}
	if left := list(); len(left) > 0 {
		t.Errorf("Secrets are left: %v", left)
	}
}
