package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/privatedns/armprivatedns"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// checkTokenAccepted proves that a credential's token is taken.
func (a *azure) checkTokenAccepted(cred azcore.TokenCredential) error {
	groups, err := armresources.NewResourceGroupsClient(sub, cred, a.armOptions())
	if err != nil {
		return err
	}
	_, err = groups.NewListPager(nil).NextPage(context.Background())
	return err
}

func (a *azure) clientOptions() policy.ClientOptions { return a.armOptions().ClientOptions }

func TestClientSecret(t *testing.T) {
	a := newAzure(t)
	o := &azidentity.ClientSecretCredentialOptions{ClientOptions: a.clientOptions(), DisableInstanceDiscovery: true}
	good, err := azidentity.NewClientSecretCredential(server.DefaultTenant, server.DefaultClientID, server.DefaultSecret, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.checkTokenAccepted(good); err != nil {
		t.Error(err)
	}
	// Who checks a token compares its audience with its own identifier; the SDK asks for OpenID scopes besides.
	const application = "6dae42f8-4368-4678-94ff-3960e28e3630"
	token, err := good.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{application + "/.default"}})
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Audience string `json:"aud"`
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token.Token, ".")[1])
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Audience != application {
		t.Errorf("audience %q, want %s; %v", claims.Audience, application, err)
	}
	bad, err := azidentity.NewClientSecretCredential(server.DefaultTenant, server.DefaultClientID, "wrong", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.checkTokenAccepted(bad); err == nil || !strings.Contains(err.Error(), "AADSTS7000215") ||
		strings.Contains(err.Error(), server.DefaultSecret) {
		t.Errorf("a wrong secret: %v", err)
	}
	stranger, err := azidentity.NewClientSecretCredential(server.DefaultTenant, "22222222-2222-2222-2222-222222222222", "x", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.checkTokenAccepted(stranger); err == nil || !strings.Contains(err.Error(), "AADSTS700016") {
		t.Errorf("an unknown application: %v", err)
	}
	for _, tenant := range []string{"common", "organizations"} {
		nowhere, err := azidentity.NewClientSecretCredential(tenant, server.DefaultClientID, server.DefaultSecret, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.checkTokenAccepted(nowhere); err == nil || !strings.Contains(err.Error(), "AADSTS50059") {
			t.Errorf("an application in tenant %s: %v", tenant, err)
		}
	}
}

func TestInstanceDiscoveryAndMetadata(t *testing.T) {
	a := newAzure(t)
	get := func(path string, header ...string) (int, string) {
		req, err := http.NewRequest("GET", a.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := a.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(raw)
	}
	cases := map[string]struct {
		path   string
		header []string
		status int
		want   string
	}{
		"discovery": {"/common/discovery/instance?api-version=1.1&authorization_endpoint=https%3A%2F%2Flogin.microsoftonline.com%2Ft%2Foauth2%2Fv2.0%2Fauthorize", nil, 200, "tenant_discovery_endpoint"},
		"openid":    {"/" + server.DefaultTenant + "/v2.0/.well-known/openid-configuration", nil, 200, "/oauth2/v2.0/token"},
		"tenant":    {"/33333333-3333-3333-3333-333333333333/v2.0/.well-known/openid-configuration", nil, 400, "AADSTS90002"},
		"keys":      {"/common/discovery/v2.0/keys", nil, 200, `"kty":"RSA"`},
		"imds": {"/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/",
			[]string{"Metadata", "true"}, 200, `"token_type":"Bearer"`},
		"imds 400": {"/metadata/identity/oauth2/token?api-version=2018-02-01&resource=x", nil, 400, "metadata header"},
		"clouds":   {"/metadata/endpoints?api-version=2019-05-01", nil, 200, `[{"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if status, text := get(tc.path, tc.header...); status != tc.status || !strings.Contains(text, tc.want) {
				t.Errorf("%d %s, want %d with %s", status, text, tc.status, tc.want)
			}
		})
	}
}

func TestManagedIdentityOfAppService(t *testing.T) {
	a := newAzure(t)
	t.Setenv("IDENTITY_ENDPOINT", a.url+"/msi/token")
	t.Setenv("IDENTITY_HEADER", "any")
	cred, err := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ClientOptions: a.clientOptions()})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.checkTokenAccepted(cred); err != nil {
		t.Error(err)
	}
}

func TestRoleAssignmentsWithTheSDK(t *testing.T) {
	ctx := context.Background()
	a := newAzure(t)
	a.createGroup()
	c, err := armauthorization.NewRoleAssignmentsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	scope := "/subscriptions/" + sub
	params := func(principal, role string, kind *armauthorization.PrincipalType) armauthorization.RoleAssignmentCreateParameters {
		return armauthorization.RoleAssignmentCreateParameters{Properties: &armauthorization.RoleAssignmentProperties{PrincipalID: new(principal),
			RoleDefinitionID: new(scope + "/providers/Microsoft.Authorization/roleDefinitions/" + role), PrincipalType: kind}}
	}
	const contributor, someone, name = "b24988ac-6180-42a0-ab88-20f7382dd24c", "44444444-4444-4444-8444-444444444444",
		"55555555-5555-4555-8555-555555555555"
	sp := armauthorization.PrincipalTypeServicePrincipal
	if _, err := c.Create(ctx, scope, name, params(someone, contributor, nil), nil); codeOf(err) != "PrincipalNotFound" {
		t.Errorf("an unknown principal without type: %v", err)
	}
	if _, err := c.Create(ctx, scope, name, params(someone, "00000000-0000-4000-8000-000000000000", &sp),
		nil); codeOf(err) != "RoleDefinitionDoesNotExist" {
		t.Errorf("an unknown role: %v", err)
	}
	for range 2 {
		if _, err := c.Create(ctx, scope, name, params(someone, contributor, &sp), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Create(ctx, scope, "66666666-6666-4666-8666-666666666666", params(someone, contributor, &sp),
		nil); codeOf(err) != "RoleAssignmentExists" {
		t.Errorf("the same under another name: %v", err)
	}
	if _, err := c.Create(ctx, scope, name, params("77777777-7777-4777-8777-777777777777", contributor, &sp),
		nil); codeOf(err) != "RoleAssignmentUpdateNotPermitted" {
		t.Errorf("another principal under the same name: %v", err)
	}
	page, err := c.NewListForSubscriptionPager(
		&armauthorization.RoleAssignmentsClientListForSubscriptionOptions{Filter: new("principalId%20eq%20'" + someone + "'")}).NextPage(ctx)
	if err != nil || len(page.Value) != 1 || *page.Value[0].Properties.Scope != scope {
		t.Errorf("list: %v %v", page.Value, err)
	}
	if _, err := c.Delete(ctx, scope, name, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(ctx, scope, name, nil); codeOf(err) != "RoleAssignmentNotFound" {
		t.Errorf("after the delete: %v", err)
	}
	roles, err := armauthorization.NewRoleDefinitionsClient(a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	rp, err := roles.NewListPager(scope,
		&armauthorization.RoleDefinitionsClientListOptions{Filter: new("roleName eq 'Contributor'")}).NextPage(ctx)
	if err != nil || len(rp.Value) != 1 || *rp.Value[0].Name != contributor {
		t.Errorf("role definitions: %v %v", rp.Value, err)
	}
}

func TestPrivateDNSWithTheSDK(t *testing.T) {
	ctx := context.Background()
	a := newAzure(t)
	a.createBase()
	zones, err := armprivatedns.NewPrivateZonesClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	links, err := armprivatedns.NewVirtualNetworkLinksClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	sets, err := armprivatedns.NewRecordSetsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	const zone = "c.capz.io"
	zp, err := zones.BeginCreateOrUpdate(ctx, "rg", zone, armprivatedns.PrivateZone{Location: new("global")}, nil)
	z, err := pollUntilDone(a, zp, err)
	if err != nil || *z.Properties.NumberOfRecordSets != 1 {
		t.Fatalf("zone: %v", err)
	}
	lp, err := links.BeginCreateOrUpdate(ctx, "rg", zone, "link",
		armprivatedns.VirtualNetworkLink{Location: new("global"),
			Properties: &armprivatedns.VirtualNetworkLinkProperties{
				VirtualNetwork: &armprivatedns.SubResource{ID: new(net + "/virtualNetworks/vnet")}, RegistrationEnabled: new(false)}}, nil)
	l, err := pollUntilDone(a, lp, err)
	if err != nil || *l.Properties.VirtualNetworkLinkState != armprivatedns.VirtualNetworkLinkStateCompleted {
		t.Fatalf("link: %v", err)
	}
	rs, err := sets.CreateOrUpdate(ctx, "rg", zone, armprivatedns.RecordTypeA, "apiserver",
		armprivatedns.RecordSet{Properties: &armprivatedns.RecordSetProperties{TTL: new(int64(300)),
			ARecords: []*armprivatedns.ARecord{{IPv4Address: new("10.0.0.100")}}}}, nil)
	if err != nil || *rs.Properties.Fqdn != "apiserver.c.capz.io." {
		t.Fatalf("record: %v", err)
	}
	if _, err := sets.CreateOrUpdate(ctx, "rg", zone, armprivatedns.RecordTypeA, "apiserver",
		armprivatedns.RecordSet{Properties: &armprivatedns.RecordSetProperties{TTL: new(int64(300))}},
		&armprivatedns.RecordSetsClientCreateOrUpdateOptions{IfNoneMatch: new("*")}); codeOf(err) != "PreconditionFailed" {
		t.Errorf("If-None-Match on an existing record: %v", err)
	}
	if _, err := zones.BeginDelete(ctx, "rg", zone, nil); codeOf(err) != "CannotDeleteResource" {
		t.Errorf("a zone with links: %v", err)
	}
	ld, err := links.BeginDelete(ctx, "rg", zone, "link", nil)
	if _, err := pollUntilDone(a, ld, err); err != nil {
		t.Fatal(err)
	}
	zd, err := zones.BeginDelete(ctx, "rg", zone, nil)
	if _, err := pollUntilDone(a, zd, err); err != nil {
		t.Fatal(err)
	}
	if _, err := zones.Get(ctx, "rg", zone, nil); codeOf(err) != "ResourceNotFound" {
		t.Errorf("after the delete: %v", err)
	}
}

func TestLocksHoldDeletesAndWrites(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	lock := net + "/routeTables/rt/providers/Microsoft.Authorization/locks/keep"
	a.mustSucceed("PUT", lock, obj{"properties": obj{"level": "CanNotDelete"}})
	for _, path := range []string{net + "/routeTables/rt", groupA} {
		if r := a.sendRequest("DELETE", path, nil); r.status != 409 || r.errorCode() != "ScopeLocked" {
			t.Errorf("DELETE %s: %d %s", path, r.status, r.errorCode())
		}
	}
	if r := a.sendRequest("PATCH", net+"/routeTables/rt", obj{"tags": obj{"a": "b"}}); r.status != 200 {
		t.Errorf("CanNotDelete must let writes through: %d %s", r.status, r.errorCode())
	}
	a.mustSucceed("PUT", lock, obj{"properties": obj{"level": "ReadOnly"}})
	if r := a.sendRequest("PATCH", net+"/routeTables/rt", obj{"tags": obj{"a": "c"}}); r.errorCode() != "ScopeLocked" {
		t.Errorf("ReadOnly must hold writes: %d %s", r.status, r.errorCode())
	}
	a.mustSucceed("DELETE", lock, nil)
	a.mustSucceed("DELETE", groupA, nil)
}
