package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/containerservice"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// operationHeaders sends the headers of an accepted long-running operation in its provider's style.
func (x *exchange) operationHeaders(rep *provider.Reply) {
	op := rep.Operation
	h := x.w.Header()
	id, _ := store.ParseID(op.ResourceID)
	namespace, _, _ := strings.Cut(op.Type, "/")
	regional := fmt.Sprintf("%s/subscriptions/%s/providers/%s/locations/%s/", x.call.BaseURL, id.Subscription, namespace, op.Location)
	version := "api-version=" + url.QueryEscape(op.APIVersion)
	put := op.Verb == "create" || op.Verb == "update" || op.Verb == "patch"
	switch provider.Style(op.Style) {
	case provider.Network:
		h.Set("x-ms-request-id", op.ID)
		h.Set("Azure-AsyncNotification", "Enabled")
		sig := fmt.Sprintf("&t=%d&c=%s&s=%s&h=%s", op.Started.UnixNano()/100, fakeSignature(op.ID, "c"), fakeSignature(op.ID, "s"),
			fakeSignature(op.ID, "h"))
		h.Set("Azure-AsyncOperation", regional+"operations/"+op.ID+"?"+version+sig)
		if !put {
			h.Set("Location", regional+"operationResults/"+op.ID+"?"+version+sig)
		}
	case provider.Compute:
		url := regional + "operations/" + op.ID + "?p=" + fakeSignature(op.ResourceID, "p") + "&"
		h.Set("Azure-AsyncOperation", url+version)
		if !put {
			h.Set("Location", url+"monitor=true&"+version)
		}
	case provider.Disk:
		url := regional + "DiskOperations/" + op.ID + "?p=" + fakeSignature(op.ResourceID, "p") + "&"
		h.Set("Azure-AsyncOperation", url+version)
		h.Set("Location", url+"monitor=true&"+version)
	case provider.PrivateDNS:
		kind := "privateDns"
		if strings.HasPrefix(strings.ToLower(op.Type), "microsoft.network/dnszones") {
			kind = "dns"
		}
		token := base64.RawURLEncoding.EncodeToString([]byte("PrivateDns;" + op.ID))
		base := fmt.Sprintf("%s/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/", x.call.BaseURL, id.Subscription,
			id.ResourceGroup)
		h.Set("Azure-AsyncOperation", base+kind+"OperationStatuses/"+token+"?"+version)
		h.Set("Location", base+kind+"OperationResults/"+token+"?"+version)
		if put {
			rep.Body = body.Object{}
		}
	case provider.Containers:
		h.Set("Azure-AsyncOperation", regional+"operations/"+op.ID+"?"+version)
		if !put {
			h.Set("Location", regional+"operationresults/"+op.ID+"?"+version)
		}
	case provider.Extension:
		h.Set("Azure-AsyncOperation", x.call.BaseURL+op.ResourceID+"/operations/"+op.ID+"?"+version)
		if put {
			h.Set("Location", x.call.BaseURL+op.ResourceID)
		}
	case provider.Common:
		// https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/async-api-reference.md
		h.Set("Azure-AsyncOperation", regional+"operationStatuses/"+op.ID+"?"+version)
		switch {
		case !put:
			h.Set("Location", regional+"operationResults/"+op.ID+"?"+version)
		case x.call.Type.LocationHeader:
			h.Set("Location", x.call.BaseURL+op.ResourceID)
		}
	case provider.Results:
		h.Set("Location", regional+"operationResults/"+op.ID+"?"+version)
		if put {
			rep.Body = nil
		}
	case provider.Deployment:
		if put {
			h.Set("Azure-AsyncOperation", x.call.BaseURL+op.ResourceID+"/operationStatuses/"+op.ID+"?"+version)
			break
		}
		h.Set("Location", fmt.Sprintf("%s/subscriptions/%s/operationresults/%s?%s", x.call.BaseURL, id.Subscription,
			deletionJob("DEPLOYMENTDELETIONJOB", op), version))
	case provider.Group:
		h.Set("Location", fmt.Sprintf("%s/subscriptions/%s/operationresults/%s?%s", x.call.BaseURL, id.Subscription,
			deletionJob("RESOURCEGROUPDELETIONJOB", op), version))
	}
}

// fakeSignature stands for the signatures Azure puts into operation URLs; nothing checks it.
func fakeSignature(id, salt string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(salt + strings.ReplaceAll(id, "-", "")))[:12]
}

// deletionJob returns Resource Manager's name of a deletion job.
func deletionJob(kind string, op *store.Operation) string {
	id, _ := store.ParseID(op.ResourceID)
	raw, _ := json.Marshal(map[string]string{
		"jobId":       kind + "-" + strings.ToUpper(id.ResourceGroup) + "-" + op.ID + "-" + strings.ToUpper(op.Location),
		"jobLocation": op.Location,
	})
	return base64.RawURLEncoding.EncodeToString(raw)
}

var guidForm = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// decodeOperation finds the operation ID in a base64 token.
func decodeOperation(token string) string {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(token, "="))
	if err != nil {
		return ""
	}
	all := guidForm.FindAllString(string(raw), -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// countPoll counts the polls of an operation. The count is stored only while it matters, so that polling does not grow the
// journal.
func (x *exchange) countPoll(op *store.Operation) int {
	if op.Polls <= op.MinPolls && op.MinPolls > 0 {
		op.Polls++
		x.call.PutOperation(op)
	}
	x.s.pollMu.Lock()
	defer x.s.pollMu.Unlock()
	x.s.polls[op.ID]++
	return x.s.polls[op.ID]
}

var networkPollDelays = []int{10, 10, 20, 20, 40, 40, 80, 160}

// answerPoll answers a poll. result is set for the Location URL and not for the Azure-AsyncOperation URL.
func (x *exchange) answerPoll(id string, result bool) (*provider.Reply, error) {
	if x.r.Method != http.MethodGet {
		return nil, x.refuseMethod()
	}
	op := x.call.Operation(id)
	if op == nil {
		return nil, provider.GatewayErrorf(404, "ResourceNotFound", "The operation '%s' was not found.", id)
	}
	x.record.OperationID = op.ID
	x.call.Type = x.s.env.TypeOf(op.Type)
	n := x.countPoll(op)
	status := op.VisibleStatus()
	running := status == store.InProgress
	if running {
		x.pending = op
	}
	if style := provider.Style(op.Style); style == provider.Group || style == provider.Deployment && op.Verb == "delete" {
		return x.groupPoll(op, running)
	}
	if result {
		return x.operationResult(op, running)
	}
	out := body.Object{"status": status}
	rep := &provider.Reply{Status: 200, Body: out}
	switch provider.Style(op.Style) {
	case provider.Network:
		if running {
			rep.RetryAfter = time.Duration(networkPollDelays[min(n-1, len(networkPollDelays)-1)]) * time.Second
		}
	case provider.Compute, provider.Disk:
		x.computePoll(op, rep, out)
	case provider.PrivateDNS:
		if running {
			rep.Status, rep.RetryAfter = 202, 30*time.Second
			here := x.call.BaseURL + x.r.URL.RequestURI()
			rep.Header = map[string]string{"Azure-AsyncOperation": here,
				"Location": strings.Replace(here, "OperationStatuses", "OperationResults", 1)}
		}
	case provider.Containers:
		out["startTime"], out["name"] = op.Started.Format("2006-01-02T15:04:05.0000000Z"), op.ID
		if doing := body.String(op.Data, "status"); running && doing != "" {
			out["status"] = doing // recordings name the step: "CreatingAgentPools"
		}
		if !running {
			out["endTime"] = op.Ended.Format("2006-01-02T15:04:05.0000000Z")
		}
		if op.Verb == "delete" && op.Type == containerservice.ManagedClusters {
			// Most recordings have this error in every poll of a cluster's deletion, also in the one that reports its
			// success. It has no meaning.
			out["error"] = body.Object{"code": "NotLatestOperation",
				"message": "Expected goal state for managed cluster not saved yet. This means saving goal state to database was slow or failed. This type of failed operations can usually be retried."}
		}
	case provider.Common:
		x.commonPoll(op, rep, out)
	case provider.Deployment:
		if running {
			out["status"] = "Running"
		}
	case provider.Extension:
		out["id"], out["name"] = op.ResourceID+"/operations/"+op.ID, op.ID
		if running {
			out["status"] = map[string]string{"create": "Creating", "delete": "Deleting"}[op.Verb]
			if out["status"] == "" {
				out["status"] = "Updating"
			}
		}
	}
	if !running && op.Error != nil {
		out["error"] = op.Error
	}
	if t := x.call.Type; t != nil && t.ShowOperation != nil {
		t.ShowOperation(op, rep, out)
	}
	return rep, nil
}

// computePoll adds the properties that Microsoft.Compute shows of an operation.
func (x *exchange) computePoll(op *store.Operation, rep *provider.Reply, out body.Object) {
	running := op.VisibleStatus() == store.InProgress
	out["startTime"], out["name"] = op.Started.Format("2006-01-02T15:04:05.0000000+00:00"), op.ID
	switch {
	case running && provider.Style(op.Style) == provider.Disk:
		if x.call.Type != nil {
			rep.RetryAfter = time.Duration(x.call.Type.RetryAfter) * time.Second
		}
	case running:
		// Recordings have no Retry-After in polls of updates, and none at all for extensions, except those of scale sets, and images.
		if strings.HasPrefix(op.Type, compute.ScaleSets) || op.Verb != "update" && !strings.HasSuffix(op.Type, "/extensions") &&
			op.Type != compute.Images {
			rep.RetryAfter = 30 * time.Second
		}
	default:
		out["endTime"] = op.Ended.Format("2006-01-02T15:04:05.0000000+00:00")
		if op.Result != nil {
			out["properties"] = body.Object{"output": op.Result}
		}
	}
}

// commonPoll adds the properties that most other providers show of an operation.
func (x *exchange) commonPoll(op *store.Operation, rep *provider.Reply, out body.Object) {
	status := op.VisibleStatus()
	running := status == store.InProgress
	out["id"], out["name"], out["startTime"] = x.r.URL.Path, op.ID, op.Started.Format("2006-01-02T15:04:05.0000000Z")
	if running && op.Verb == "delete" {
		rep.RetryAfter = 15 * time.Second
	}
	if !running {
		out["endTime"], out["properties"] = op.Ended.Format("2006-01-02T15:04:05.0000000Z"), nil
	}
	if t := x.call.Type; t != nil && t.EmptyResult && !running {
		out["properties"] = body.Object{}
	} else if t != nil && t.TersePolls {
		clear(out)
		out["status"] = status
	}
}

func (x *exchange) operationResult(op *store.Operation, running bool) (*provider.Reply, error) {
	if running {
		rep := &provider.Reply{Status: 202, RetryAfter: 10 * time.Second,
			Header: map[string]string{"Location": x.call.BaseURL + x.r.URL.RequestURI()}}
		if created := body.String(op.Result, "createdDateTime"); created != "" {
			// The purge of a vault: recording Test_MachineLearning_Workspaces_20240401_CRUD of the Azure Service Operator v2.11.0.
			rep.Body = body.Object{"createdDateTime": created, "status": "NotStarted"}
		}
		return rep, nil
	}
	if op.Error != nil {
		e := provider.Errorf(409, body.String(op.Error, "code"), "%s", body.String(op.Error, "message"))
		return nil, e
	}
	if op.Result != nil {
		return provider.OK(op.Result), nil
	}
	if it := x.call.FindItem(op.ResourceID); it != nil && op.Verb != "delete" &&
		(op.Verb == "create" || op.Verb == "update" || op.Verb == "patch") {
		id, _ := store.ParseID(op.ResourceID)
		c := *x.call
		c.ID, c.Type = id, x.s.env.TypeOf(op.Type)
		return c.ReadResource()
	}
	switch provider.Style(op.Style) {
	case provider.Compute, provider.Disk, provider.Results:
		return &provider.Reply{Status: 200}, nil
	}
	return &provider.Reply{Status: 204}, nil
}

// groupOperation answers the poll of the deletion of a resource group or a deployment.
func (x *exchange) groupOperation(token string) (*provider.Reply, error) {
	return x.answerPoll(decodeOperation(token), true)
}

func (x *exchange) groupPoll(op *store.Operation, running bool) (*provider.Reply, error) {
	if running {
		return &provider.Reply{Status: 202, RetryAfter: 15 * time.Second,
			Header: map[string]string{"Location": x.call.BaseURL + x.r.URL.RequestURI()}}, nil
	}
	if op.Error != nil {
		e := provider.GatewayErrorf(409, body.String(op.Error, "code"), "%s", body.String(op.Error, "message"))
		for _, d := range body.Objects(op.Error, "details") {
			e.Details = append(e.Details,
				provider.Errorf(0, body.String(d, "code"), "%s", body.String(d, "message")).WithTarget(body.String(d, "target")))
		}
		return nil, e
	}
	if provider.Style(op.Style) == provider.Deployment {
		return &provider.Reply{Status: 204}, nil
	}
	return &provider.Reply{Status: 200}, nil
}
