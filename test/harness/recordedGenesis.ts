import type { Genesis } from '#chain/genesis'
import { parseGethGenesis } from '#chain/genesisJson'
import { networkOf } from '#chain/networks'
import { toHex, toQuantity } from '#lib/hex'

/** How recorded chains tell their genesis: Base mainnet's header and accounts with another time, and more accounts. */
export type GenesisNote = { readonly config: unknown; readonly genesisTimestamp: number; readonly extraAlloc: unknown }

export function recordedGenesis({ config, genesisTimestamp, extraAlloc }: GenesisNote): Genesis {
  const base = networkOf('base').genesis()
  const { header } = base
  const { genesis } = parseGethGenesis({
    config,
    alloc: extraAlloc,
    timestamp: toQuantity(genesisTimestamp),
    gasLimit: toQuantity(header.gasLimit),
    difficulty: toQuantity(header.difficulty),
    mixHash: header.mixHash,
    coinbase: header.beneficiary,
    extraData: toHex(header.extraData),
    baseFeePerGas: toQuantity(header.baseFeePerGas),
    nonce: '0x0',
  })
  return { ...genesis, accounts: [...base.accounts, ...genesis.accounts] }
}
