import { fromHex } from '#lib/hex'
import { readDataJson } from './dataFile.ts'
import { activatesAt, type ForkSchedule } from './forks.ts'

export const upgradeForks = ['ecotone', 'fjord', 'isthmus', 'jovian'] as const
export type UpgradeFork = (typeof upgradeForks)[number]

type Upgrades = Readonly<Record<UpgradeFork, readonly Uint8Array[]>>

const json = readDataJson('upgradeTransactions.json.zst') as Record<UpgradeFork, readonly string[]>
const upgrades: Upgrades = {
  ecotone: json.ecotone.map(fromHex),
  fjord: json.fjord.map(fromHex),
  isthmus: json.isthmus.map(fromHex),
  jovian: json.jovian.map(fromHex),
}

/**
 * The deposits that a fork puts into its first block, after those of users. The intents behind four of Jovian's source hashes read as in the
 * earlier forks ("L1 Block", "Gas Price Oracle"), as on the networks and in all clients; its page in the specs writes them as one word.
 * @returns EIP-2718 bytes
 * @see specs protocol/{ecotone,fjord,isthmus,jovian}/derivation.md, "Network upgrade automation transactions"
 */
export function upgradeTransactions(fork: UpgradeFork): readonly Uint8Array[] {
  return upgrades[fork]
}

/** The same for the block at a time (seconds): those of each fork that it is the first block of; none for nearly all blocks. */
export function upgradeTransactionsAt(schedule: ForkSchedule, parentTimestamp: number, timestamp: number): readonly Uint8Array[] {
  return upgradeForks.filter((fork) => activatesAt(schedule, fork, parentTimestamp, timestamp)).flatMap(upgradeTransactions)
}
