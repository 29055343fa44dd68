/** Why something is not trusted, and what the operator can do. */
export type Refusal = { readonly kind: 'refused'; readonly reason: string; readonly fix: string }

export const refused = (reason: string, fix: string): Refusal => ({ kind: 'refused', reason, fix })
