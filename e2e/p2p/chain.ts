import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Genesis } from '../../src/chainspec/genesis.ts'
import type { RollupConfig } from '../../src/chainspec/rollupConfig.ts'
import { devnetAccounts, testMnemonic } from '../../src/devnet/accounts.ts'
import { startAnvilL1 } from '../../src/devnet/anvil.ts'
import { makeDevnetChain, startBalance, systemConfigOf, toChainFiles } from '../../src/devnet/devnetChain.ts'
import { exportedChain } from '../../src/devnet/exportedChain.ts'
import type { ForkOffsets } from '../../src/devnet/forkSchedule.ts'
import { mineOnTime } from '../../src/devnet/l1/miner.ts'
import { l1Contracts, portalAddress, systemConfigAddress } from '../../src/devnet/l1Contracts.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { toHex } from '../../src/lib/hex.ts'
import { keccak256 } from '../../src/lib/keccak.ts'
import { silentLog } from '../../src/lib/log.ts'
import { addressOfKey } from '../../src/lib/secp256k1.ts'
import { addressFromBytes, parseAddress } from '../../src/types/ids.ts'

/** Forks up to the newest that all clients of a chain know: the versions of block messages change at `canyon`, `ecotone` and `isthmus`. */
export const forkSteps: Readonly<Record<'holocene' | 'jovian' | 'fromEcotone', ForkOffsets>> = {
  holocene: { canyon: 8, delta: 8, ecotone: 16, fjord: 20, granite: 20, holocene: 24 },
  jovian: { canyon: 8, delta: 8, ecotone: 16, fjord: 20, granite: 20, holocene: 24, isthmus: 28, jovian: 32 },
  // base-consensus cannot sequence before Ecotone
  fromEcotone: { canyon: 0, delta: 0, ecotone: 1, fjord: 8, granite: 8, holocene: 12, isthmus: 16, jovian: 20 },
}

/** A chain without a batcher: L1 has none of its blocks, so nodes receive them from peers only. Its files are in `folder`. */
export interface PeerChain extends AsyncDisposable {
  readonly config: RollupConfig
  readonly genesis: () => Genesis
  readonly slotSec: number
  readonly l1Url: string
  readonly folder: string
  /** block from which all forks are active */
  readonly lastFork: number
  /** key of the unsafe block signer that L1's system config names, in hex without prefix */
  readonly sequencerKey: string
  readonly sequencerKeyFile: string
  readonly files: Readonly<Record<'genesis' | 'theirGenesis' | 'rollup' | 'theirRollup' | 'l1Config' | 'jwt', string>>
}

/** The state of L1's genesis has the contracts, its header does not: nodes verify proofs of later blocks. */
const headStartSec = 6
const [l1ChainId, chainId, slotSec] = [90_900, 90_901, 2]

/**
 * Starts L1 and writes the files of a chain.
 * @param ageSec age of its genesis: the blocks since then are due at once
 */
export async function startPeerChain(
  folder: string,
  forks: ForkOffsets,
  { ageSec = headStartSec, blockTimeSec = 1, accounts: accountCount = 6 } = {},
): Promise<PeerChain> {
  await using parts = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  const key = keccak256(new TextEncoder().encode(folder))
  const { accounts, roles } = devnetAccounts(testMnemonic, accountCount)
  const options = {
    ...{ chainId, l1ChainId, blockTimeSec, forks },
    accounts: accounts.map(({ address }) => parseAddress(address)),
    batcher: parseAddress(roles.batcher.address),
    activationAdmin: parseAddress(roles.activationAdmin.address),
  }
  const genesisTimeSec = Math.floor(Date.now() / 1_000) - ageSec
  const l1 = parts.use(
    await startAnvilL1(
      { fetch, clock: systemClock },
      {
        ...{ chainId: l1ChainId, genesisTimeSec, slotSec },
        // clients that know Holocene as the last fork do not know Prague
        hardfork: forks.isthmus === undefined ? 'cancun' : 'prague',
        accounts: accounts.map(({ address }) => ({ address: parseAddress(address), balanceWei: startBalance })),
        contracts: l1Contracts({
          owner: parseAddress(roles.owner.address),
          systemConfig: systemConfigOf(options),
          unsafeBlockSigner: addressFromBytes(addressOfKey(key)),
        }),
      },
    ),
  )
  const chain = makeDevnetChain(options, { genesis: l1.genesis, genesisTimeSec, portal: portalAddress, systemConfig: systemConfigAddress })
  const stop = new AbortController()
  const mining = mineOnTime({ clock: systemClock, log: silentLog }, l1, stop.signal)
  parts.defer(async () => {
    stop.abort()
    await mining
  })

  const write = (name: string, content: unknown): string => {
    const file = join(folder, name)
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
    return file
  }
  const { genesis, rollup } = toChainFiles(chain)
  const exported = exportedChain({ genesis, rollup }, l1ChainId)
  const keyHex = toHex(key).slice(2)
  const kept = parts.move()
  return {
    ...{ config: chain.config, genesis: chain.genesis, slotSec },
    l1Url: l1.rpcUrl,
    folder,
    lastFork: Math.max(...Object.values(forks)) / blockTimeSec,
    sequencerKey: keyHex,
    sequencerKeyFile: write('sequencer.hex', keyHex),
    files: {
      genesis: write('genesis.json', genesis),
      theirGenesis: write('their-genesis.json', exported.genesis),
      rollup: write('rollup.json', rollup),
      theirRollup: write('their-rollup.json', exported.rollup),
      l1Config: write('l1.json', exported.l1ChainConfig),
      jwt: write('jwt.hex', '7'.repeat(64)),
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
