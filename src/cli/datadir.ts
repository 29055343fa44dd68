import { networkNameOf } from '#chainspec/networkNames'

const placeholder = '{network}'

/**
 * Returns the data directory of a chain: `{network}` in --datadir is replaced by the name of the built-in network of that chain id, or by
 * `chain-ID`. So one setting keeps the chains apart.
 */
export function datadirOf(text: string, chainId: number): string {
  if (!text.includes(placeholder)) return text
  return text.replaceAll(placeholder, networkNameOf(chainId) ?? `chain-${chainId}`)
}
