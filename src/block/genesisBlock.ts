import { messagePasser } from '#chainspec/addresses'
import type { ForkSchedule } from '#chainspec/forks'
import { type Genesis, genesisHeader } from '#chainspec/genesis'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { genesisState } from '#state/genesisState'
import { hashHeader } from '#types/header'
import { emptyRoot } from '#types/ids'
import type { ExecutedBlock } from './execution/executedBlock.ts'

/** Returns the genesis block in the form of an executed block. Its state diff is the whole genesis allocation. */
export function genesisBlock(genesis: Genesis, schedule: ForkSchedule): ExecutedBlock {
  const { diff, result } = genesisState(genesis.accounts)
  const messagePasserStorageRoot = result.storageRoots.get(toHex(keccak256(fromHex(messagePasser)))) ?? emptyRoot
  const header = genesisHeader(genesis, schedule, { stateRoot: result.root, messagePasserStorageRoot })
  return { header, hash: hashHeader(header), transactions: [], executed: [], diff, trie: result }
}
