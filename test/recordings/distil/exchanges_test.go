package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestCleanURL(t *testing.T) {
	for name, c := range map[string]struct{ reason, raw, want string }{
		"host":      {"nearly all URLs are of one host", "https://management.azure.com/subscriptions/s?api-version=1", "/subscriptions/s?api-version=1"},
		"China":     {"so are those of another cloud", "https://management.chinacloudapi.cn/subscriptions/s?api-version=1", "/subscriptions/s?api-version=1"},
		"other":     {"other hosts are left out later and have to be recognized", "https://graph.microsoft.com/v1.0", "https://graph.microsoft.com/v1.0"},
		"signature": {"a signature is a secret and long", "https://management.azure.com/o/1?api-version=1&t=1&c=MII&s=abc&h=def", "/o/1?api-version=1"},
		"sig":       {"Azure Storage names it differently", "https://management.azure.com/o/1?monitor=true&api-version=1&tid=t&sig=abc", "/o/1?api-version=1&monitor=true"},
		"monitor":   {"the conformance test tells URLs of results from those of states by it", "https://management.azure.com/o/1?monitor=true", "/o/1?monitor=true"},
		"seconds":   {"Retry-After has a number", "10", "10"},
	} {
		if got := cleanURL(c.raw); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", name, c.reason, got, c.want)
		}
	}
}

func TestCleanBody(t *testing.T) {
	for name, c := range map[string]struct{ reason, body, want string }{
		"person": {"names of persons are not published", `{"createdBy":"jane.doe@microsoft.com"}`, `{"createdBy":"someone@example.com"}`},
		"hex":    {"instrumentation keys of old services have 32 digits", `{"primaryKey":"c05ba0bbf1f34a94b1673c1851647fa9"}`, `{"primaryKey":"{KEY}"}`},
		"base64": {"keys of storage accounts have 88 characters", `{"keyName":"key1","value":"` + strings.Repeat("Aa0+", 22) + `"}`,
			`{"keyName":"key1","value":"{KEY}"}`},
		"url":  {"a signed URL gives access by itself", `{"identityUrl":"https://host/a?tid=t&sig=abc"}`, `{"identityUrl":"https://host/a?tid=t&sig={KEY}"}`},
		"name": {"a short value is not a key", `{"keyName":"key1","value":"short"}`, `{"keyName":"key1","value":"short"}`},
		"text": {"a page of HTML is kept as text", `<html>`, `"<html>"`},
	} {
		got := &strings.Builder{}
		encoder := json.NewEncoder(got)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(cleanBody(c.body)); err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(got.String()) != c.want {
			t.Errorf("%s: %s: got %s, want %s", name, c.reason, got, c.want)
		}
	}
}

func TestShortenList(t *testing.T) {
	item := `{"id":"%d","properties":{"roleName":"r"}}`
	var items []string
	for i := range longList + 1 {
		items = append(items, fmt.Sprintf(item, i))
	}
	short := `{"value":[` + strings.Join(items[1:], ",") + `]}`
	if got := shortenList(short); got != short {
		t.Errorf("a list of %d items changed", longList)
	}
	other := `{"id":"x","properties":{"description":"d"}}`
	got := shortenList(`{"value":[` + strings.Join(append(items, other), ",") + `]}`)
	if want := `{"value":[{"id":"0","properties":{"roleName":"r"}},{"id":"x","properties":{"description":"d"}}]}`; got != want {
		t.Errorf("got %.200s, want one item of each set of keys, %s", got, want)
	}
}

func TestFileName(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/g"
	for url, want := range map[string]string{
		group + "?api-version=1": "microsoft.resources_resourcegroups",
		group + "/providers/Microsoft.Network/virtualNetworks/v/subnets/s?api-version=1":                   "microsoft.network_virtualnetworks_subnets",
		group + "/providers/Microsoft.Network/virtualNetworks/v/providers/Microsoft.Authorization/locks/l": "microsoft.authorization_locks",
		group + "/providers/Microsoft.Storage/storageAccounts/a/listKeys?api-version=1":                    "microsoft.storage_storageaccounts",
		"/subscriptions/s/providers/Microsoft.Network/locations/westus/operations/1":                       "microsoft.network_locations",
		"/subscriptions/s/operationresults/eyJ":                                                            "operationresults",
		group + "/providers/Microsoft.Sql/servers/s":                                                       "principals",
		"https://graph.microsoft.com/v1.0/groups":                                                          "",
	} {
		if got := fileName(url); got != want {
			t.Errorf("%s is in %q, want %q", url, got, want)
		}
	}
}
