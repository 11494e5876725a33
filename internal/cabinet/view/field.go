package view

import "github.com/a-h/templ"

// Field is a labelled control of a form.
type Field struct {
	Name         string // also its id
	Label        string
	Help         string
	Type         string // text by default
	Value        string
	Error        string
	Placeholder  string
	Autocomplete string
	Mode         string // inputmode
	Optional     bool
	Either       bool // one of several fields is filled in: an optional one is not marked as such
	Focus        bool
	Mono         bool
	MaxLength    int
}

func (f Field) kind() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// describedBy returns the ARIA attributes that link a control to its help and error.
func describedBy(id, help, problem string) templ.Attributes {
	ids := ""
	if problem != "" {
		ids = id + "-error"
	}
	if help != "" {
		if ids != "" {
			ids += " "
		}
		ids += id + "-help"
	}
	attrs := templ.Attributes{}
	if ids != "" {
		attrs["aria-describedby"] = ids
	}
	if problem != "" {
		attrs["aria-invalid"] = "true"
	}
	return attrs
}

// groupDescribedBy returns the attribute that links a fieldset to its error.
func groupDescribedBy(id, problem string) templ.Attributes {
	if problem == "" {
		return nil
	}
	return templ.Attributes{"aria-describedby": id + "-error"}
}

// The following attributes make htmx load a link into the current page. Without
// scripts they are ordinary links.

// openInDialog opens the confirm page behind a link in a dialog.
func openInDialog(path string) templ.Attributes {
	return templ.Attributes{
		"hx-get": path, "hx-select": "#confirm", "hx-target": "#dialog", "hx-swap": "innerHTML ignoreTitle:true",
	}
}

// openInDrawer opens the page behind a link in a drawer next to its list.
func openInDrawer(path string) templ.Attributes {
	return templ.Attributes{
		"hx-get": path, "hx-select": "#detail", "hx-target": "#drawer-body", "hx-swap": "innerHTML ignoreTitle:true", "hx-push-url": "true",
	}
}

// swapPart swaps one part of the page for the same part of the response.
func swapPart(part string) templ.Attributes {
	return templ.Attributes{
		"hx-select": part, "hx-target": part, "hx-swap": "outerHTML",
	}
}

// swapList swaps a list and pushes its address.
func swapList(path, part string) templ.Attributes {
	attrs := swapPart(part)
	attrs["hx-get"], attrs["hx-push-url"] = path, "true"
	return attrs
}

// swapDetail swaps the detail of a page, in a drawer or on the page itself, and shows
// the messages that came with it.
func swapDetail() templ.Attributes {
	return templ.Attributes{
		"hx-select": "#detail", "hx-target": "#detail", "hx-swap": "outerHTML ignoreTitle:true", "hx-select-oob": "#toasts",
	}
}

// whilePending reloads the detail of a delivery that is about to be sent.
func whilePending(d Delivery) templ.Attributes {
	if d.State != DeliveryPending {
		return nil
	}
	attrs := swapDetail()
	attrs["hx-get"], attrs["hx-trigger"] = PathDelivery(d.ID), "every 2s"
	return attrs
}
