package standin

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	rules     = "Microsoft.Insights/dataCollectionRules"
	endpoints = "Microsoft.Insights/dataCollectionEndpoints"
	groups    = "Microsoft.Resources/resourceGroups"
)

// monitorRows are of Azure Monitor. Source: recordings of these types.
var monitorRows = map[string]row{
	workspaces: {
		unsigned: true,
		wire: func(t *provider.Type) {
			t.Create.LRO, t.Update.LRO, t.PatchLRO.LRO, t.Delete.LRO = 10*time.Second, 10*time.Second, 0, 0
			t.LocationHeader, t.RetryAfter, t.EmptyResult = true, 20, true
			t.Actions = map[string]*provider.Action{"sharedkeys": {Start: func(_ *provider.Call, r *store.Resource) (*provider.Reply, error) {
				return provider.OK(body.Object{"primarySharedKey": deriveDigits(r.ID, "first", 64),
					"secondarySharedKey": deriveDigits(r.ID, "second", 64)}), nil
			}}}
		},
		defaults: map[string]any{
			"properties.retentionInDays": 30.0, "properties.publicNetworkAccessForIngestion": "Enabled",
			"properties.publicNetworkAccessForQuery":                          "Enabled",
			"properties.sku.name":                                             "PerGB2018",
			"properties.features.enableLogAccessUsingOnlyResourcePermissions": true,
			"properties.workspaceCapping.dailyQuotaGb":                        -1.0,
		},
		fill: func(_ *provider.Call, d *provider.Draft) error {
			// Standalone is its former name. Half of the recordings show it as it was sent, and they do not differ from the others.
			if strings.EqualFold(body.String(d.New, "properties.sku.name"), "Standalone") {
				body.Set(d.New, "properties.sku.name", "PerGB2018")
			}
			return nil
		},
		shown: func(_ *provider.Call, it *provider.Item) {
			showValues(it, map[string]any{
				"customerId": madeGUID(it.ID, "customer"), "createdDate": createdTime(it), "modifiedDate": changedTime(it), "features.legacy": 0.0,
				"features.searchVersion": 1.0,
				"sku.lastSkuUpdate":      createdTime(it), "workspaceCapping.quotaNextResetTime": createdTime(it),
				"workspaceCapping.dataIngestionStatus": "RespectQuota",
			})
		},
	},
	endpoints: {
		wire:     makeAlwaysOK,
		defaults: map[string]any{"properties.networkAcls.publicNetworkAccess": "Enabled"},
		shown: func(_ *provider.Call, it *provider.Item) {
			host := "https://" + strings.ToLower(it.Name) + "-" + deriveDigits(it.ID, "host", 4) + "." + it.Location + "-1."
			showValues(it, map[string]any{
				"immutableId":                  "dce-" + deriveDigits(it.ID, "immutable", 32),
				"configurationAccess.endpoint": host + "handler.control.monitor.azure.com",
				"logsIngestion.endpoint":       host + "ingest.monitor.azure.com",
				"metricsIngestion.endpoint":    host + "metrics.ingest.monitor.azure.com",
			})
		},
	},
	rules: {
		wire: makeAlwaysOK,
		shown: func(_ *provider.Call, it *provider.Item) {
			showValues(it, map[string]any{"immutableId": "dcr-" + deriveDigits(it.ID, "immutable", 32)})
			for _, to := range body.Objects(it.Body, "properties.destinations.logAnalytics") {
				to["workspaceId"] = madeGUID(body.String(to, "workspaceResourceId"), "customer")
			}
			for _, to := range body.Objects(it.Body, "properties.destinations.monitoringAccounts") {
				to["accountId"] = madeGUID(body.String(to, "accountResourceId"), "account")
			}
		},
	},
	// It shows no state although its definition has one.
	"Microsoft.Insights/dataCollectionRuleAssociations": {wire: func(t *provider.Type) {
		makeAlwaysOK(t)
		t.NoState, t.Extension = true, true
		t.Missing = func(*provider.Call) *provider.Error {
			return &provider.Error{Status: 404, Code: "ResourceNotFound"}
		}
	}},
	"Microsoft.Monitor/accounts": {
		wire: func(t *provider.Type) {
			makeAlwaysOK(t)
			t.Delete.LRO, t.DeleteRetryAfter, t.TersePolls = 30*time.Second, 15, true
			// The poll that shows the end has a time to wait, too: recording Test_Monitor_Account_CRUD.
			t.ShowOperation = func(op *store.Operation, rep *provider.Reply, _ body.Object) {
				if op.Verb == "delete" {
					rep.RetryAfter = 15 * time.Second
				}
			}
			t.Deleted = func(c *provider.Call, r *store.Resource) { c.EraseTree(managedGroup(r.ID, r.Name(), r.Location)) }
		},
		defaults: map[string]any{"properties.publicNetworkAccess": "Enabled"},
		fill:     createIngestion,
		shown: func(_ *provider.Call, it *provider.Item) {
			account := madeGUID(it.ID, "account")
			in := managedGroup(it.ID, it.Name, it.Location) + "/providers/"
			showValues(it, map[string]any{
				"accountId": account, "metrics.internalId": "mac_" + account,
				"metrics.prometheusQueryEndpoint": "https://" + strings.ToLower(it.Name) + "-" + deriveDigits(it.ID, "query",
					16) + "." + it.Location + ".prometheus.monitor.azure.com",
				"defaultIngestionSettings": body.Object{"dataCollectionRuleResourceId": in + rules + "/" + it.Name,
					"dataCollectionEndpointResourceId": in + endpoints + "/" + it.Name},
			})
		},
	},
}

// managedGroup returns the resource group that Azure creates for the ingestion resources of an account.
func managedGroup(id, name, location string) string {
	parsed, _ := store.ParseID(id)
	return "/subscriptions/" + parsed.Subscription + "/resourceGroups/MA_" + name + "_" + location + "_managed"
}

// createIngestion makes the rule and the endpoint that an account is fed by, in a group of their own.
// https://learn.microsoft.com/azure/azure-monitor/metrics/azure-monitor-workspace-overview
func createIngestion(c *provider.Call, d *provider.Draft) error {
	group := managedGroup(d.ID, d.Name, d.Location)
	if c.Get(group) != nil {
		return nil
	}
	ready := func(more body.Object) body.Object {
		properties := body.Object{"provisioningState": store.Succeeded}
		for key, value := range more {
			properties[key] = value
		}
		return body.Object{"location": d.Location, "properties": properties}
	}
	in := group + "/providers/"
	whole := ready(nil)
	whole["managedBy"] = d.ID
	c.SaveResource(&store.Resource{ID: group, Type: groups, Location: d.Location, Body: whole})
	c.SaveResource(&store.Resource{ID: in + endpoints + "/" + d.Name, Type: endpoints, Location: d.Location, Body: ready(nil)})
	c.SaveResource(&store.Resource{ID: in + rules + "/" + d.Name, Type: rules, Location: d.Location, Body: ready(body.Object{
		"dataCollectionEndpointId": in + endpoints + "/" + d.Name,
		"dataSources": body.Object{"prometheusForwarder": []any{body.Object{"name": "PrometheusDataSource",
			"streams": []any{"Microsoft-PrometheusMetrics"}, "labelIncludeFilter": body.Object{}}}},
		"destinations": body.Object{"monitoringAccounts": []any{body.Object{"name": "MonitoringAccount1",
			"accountResourceId": d.ID}}},
		"dataFlows": []any{body.Object{"streams": []any{"Microsoft-PrometheusMetrics"},
			"destinations": []any{"MonitoringAccount1"}}},
	})})
	return nil
}
