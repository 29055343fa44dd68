import { useEffect, useState } from 'preact/hooks'

/** What the address after `#` shows. */
export type Route =
  | { readonly kind: 'overview' }
  | { readonly kind: 'block'; readonly id: string }
  | { readonly kind: 'tx'; readonly hash: string }

/** Returns the route of an address; the overview for one that is not known. */
export function routeOf(hash: string): Route {
  const [, kind, id = ''] = /^#\/(block|tx)\/([0-9a-zA-Z]{1,66})$/.exec(hash) ?? []
  if (kind === 'block') return { kind, id }
  if (kind === 'tx') return { kind, hash: id }
  return { kind: 'overview' }
}

export const blockPath = (id: string | number): string => `#/block/${id}`
export const txPath = (hash: string): string => `#/tx/${hash}`

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = (): void => setHash(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return routeOf(hash)
}
