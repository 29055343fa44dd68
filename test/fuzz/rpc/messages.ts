/** Lists of parameters by method, each of which gives a result. */
export type GoodParams = Readonly<Record<string, readonly (readonly unknown[])[]>>

/** What the chain under test holds, to be asked about. */
export type Held = { readonly hashes: string[]; readonly addresses: string[]; readonly raws: string[]; readonly good: GoodParams }

export type TargetUrls = { readonly http: string; readonly ws: string; readonly rollup: string; readonly engine: string }

/** What the process under test tells; whatever it is sent asks for its memory. */
export type FromTarget =
  | { readonly kind: 'ready'; readonly urls: TargetUrls; readonly held: Held }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'memory'; readonly heapMb: number; readonly rssMb: number }
