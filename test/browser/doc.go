// Package browser drives the cabinet of the whole program in headless Chromium,
// as a company administrator would. It holds tests only.
package browser
