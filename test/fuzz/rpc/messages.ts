/** Lists of parameters by method; each gives a result. */
export type GoodParams = Readonly<Record<string, readonly (readonly unknown[])[]>>

/** Hashes, addresses, transactions and parameters of the chain under test, for use in requests. */
export type Held = { readonly hashes: string[]; readonly addresses: string[]; readonly raws: string[]; readonly good: GoodParams }

export type TargetUrls = { readonly http: string; readonly ws: string; readonly rollup: string; readonly engine: string }

/** Message of the process under test. Any message to it requests its memory. */
export type FromTarget =
  | { readonly kind: 'ready'; readonly urls: TargetUrls; readonly held: Held }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'memory'; readonly heapMb: number; readonly rssMb: number }
