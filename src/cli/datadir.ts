import { networkNames, networkOf } from '#chainspec/networks'

const placeholder = '{network}'

/**
 * Returns the data directory of a chain: `{network}` in --datadir is replaced by the name of the built-in network of that chain id, or by
 * `chain-ID`. So one setting keeps the chains apart.
 */
export function datadirOf(text: string, chainId: number): string {
  if (!text.includes(placeholder)) return text
  const name = networkNames.find((known) => networkOf(known).config.l2ChainId === chainId) ?? `chain-${chainId}`
  return text.replaceAll(placeholder, name)
}
