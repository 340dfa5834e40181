package harness

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// explainState describes the state of an object that is not as wanted, for the person who reads the failed test: that it cannot be
// read, or its conditions that are not true, and the provider's last requests to Azure as Since has them.
func explainState(object client.Object, read error, requests []string) string {
	var lines []string
	switch unmet, err := unmetConditions(object); {
	case client.IgnoreNotFound(read) != nil:
		lines = append(lines, "it cannot be read: "+read.Error())
	case read != nil:
		lines = append(lines, "it does not exist")
	case err != nil:
		lines = append(lines, "its conditions cannot be read: "+err.Error())
	case len(unmet) > 0:
		lines = append(lines, unmet...)
	case EncodeStatus(object) == "":
		lines = append(lines, "it has no status")
	default:
		lines = append(lines, "no condition has a reason; its status is "+EncodeStatus(object))
	}
	if len(requests) == 0 {
		return strings.Join(append(lines, "nothing was asked of Azure"), "\n")
	}
	last := requests[len(requests)-1]
	lines = append(lines, "last request to Azure: "+last)
	for i := len(requests) - 1; i >= 0; i-- {
		if isRefused(requests[i]) {
			if requests[i] != last {
				lines = append(lines, "last refused request: "+requests[i])
			}
			break
		}
	}
	return strings.Join(lines, "\n")
}

// isRefused reports whether a request ended with an error. That something does not exist is the usual answer before it is made.
func isRefused(request string) bool {
	status := request[strings.LastIndex(request, " ")+1:]
	return status >= "400" && status != "404" || status == "0"
}

// unmetConditions returns the conditions of an object that are not true, one line each.
func unmetConditions(object client.Object) ([]string, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return nil, err
	}
	var lines []string
	for _, c := range parsed.Status.Conditions {
		if c.Status != metav1.ConditionTrue {
			lines = append(lines, fmt.Sprintf("%s is %s: %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return lines, nil
}
