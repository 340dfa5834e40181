package inspect

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

type answer string

func (a answer) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(a))), Request: request}, nil
}

// TestCommandsAreQuoted reads the commands in errors about a machine in a resource group whose name has parentheses, which Azure allows.
func TestCommandsAreQuoted(t *testing.T) {
	machine := &Machine{Name: "m", VM: "/subscriptions/s/resourceGroups/team (a)/providers/Microsoft.Compute/virtualMachines/vm"}
	ask := func(body answer) *armclient.Client {
		c, err := armclient.New(&fake.TokenCredential{}, cloud.AzurePublic, armclient.Options{Transport: body})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	_, console := Console{Client: ask(`{"properties": {}}`)}.Read(t.Context(), machine)
	_, route := FindRoute(t.Context(), ask(`{"properties": {"osProfile": {"windowsConfiguration": {"a": 1}}}}`), machine)
	for _, test := range []struct {
		err  error
		want string
	}{
		{console, "--ids '" + string(machine.VM) + "'"},
		{route, "--name vm --resource-group 'team (a)'"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%v, want %s", test.err, test.want)
		}
	}
}
