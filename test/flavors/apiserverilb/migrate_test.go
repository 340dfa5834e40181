package apiserverilb_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors/estate"
)

// TestMigrate migrates the flavors with an internal load balancer beside the public one.
func TestMigrate(t *testing.T) {
	t.Parallel()
	for _, file := range flavors.TemplateNames(t) {
		if !strings.HasSuffix(file, "apiserver-ilb.yaml") {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			estate.Migrate(t, environment, file, map[string]string{"APISERVER_LB_DNS_SUFFIX": "abc123", "AZURE_SSH_PUBLIC_KEY": flavors.SSHKey},
				gates)
		})
	}
}
