import { networkNames, networkOf } from '#chainspec/networks'

const placeholder = '{network}'

/**
 * The data directory that --datadir means for a chain: `{network}` in it stands for the name of the built-in network of that chain ID, or for
 * `chain-ID`. So one setting keeps the chains apart.
 */
export function datadirOf(text: string, chainId: number): string {
  if (!text.includes(placeholder)) return text
  const name = networkNames.find((known) => networkOf(known).config.l2ChainId === chainId) ?? `chain-${chainId}`
  return text.replaceAll(placeholder, name)
}
