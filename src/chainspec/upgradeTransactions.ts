import { fromHex } from '#lib/hex'
import { readDataJson } from './dataFile.ts'
import { activatesAt, type ForkSchedule } from './forks.ts'

const upgradeForks = ['ecotone', 'fjord', 'isthmus', 'jovian'] as const
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
 * Returns the deposits that a fork adds to its first block, after the user deposits. The intents behind four of Jovian's source hashes are written as
 * in
 * earlier forks ("L1 Block", "Gas Price Oracle"), which matches the networks and all clients; the specs page writes each as one word.
 * @returns EIP-2718 bytes
 * @see specs protocol/{ecotone,fjord,isthmus,jovian}/derivation.md, "Network upgrade automation transactions"
 */
export function upgradeTransactions(fork: UpgradeFork): readonly Uint8Array[] {
  return upgrades[fork]
}

/** Returns the upgrade transactions of a block at a time (seconds), for each fork whose first block it is; empty for nearly all blocks. */
export function upgradeTransactionsAt(schedule: ForkSchedule, parentTimestamp: number, timestamp: number): readonly Uint8Array[] {
  return upgradeForks.filter((fork) => activatesAt(schedule, fork, parentTimestamp, timestamp)).flatMap(upgradeTransactions)
}
