package v1

// Token is what the token of the request may do. ExpiresAt is nil if it never expires.
type Token struct {
	Name      string    `json:"name"`
	Company   Company   `json:"company"`
	Scopes    []Scope   `json:"scopes"`
	ExpiresAt *DateTime `json:"expiresAt"`
}

// Company is the company that a token belongs to.
type Company struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}
