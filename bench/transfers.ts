// What a block of plain transfers costs: executed with its receipts, roots and hashes, senders known, as the builder and every verifier does it.
import { l1BlockAddress } from '#chain/addresses'
import { createReferenceEvm } from '#evm/referenceEvm'
import { executeBlock } from '#execution/executeBlock'
import { configOfGenesis } from '#execution/executionConfig'
import { genesisBlock } from '#execution/genesisBlock'
import { createSenders } from '#execution/senders'
import { genesisState } from '#state/genesisState'
import { accountOf, attributesAt, scheduleTo, signedBy, smallGenesis } from '#test/harness/chainBlocks'
import { testAccount } from '#test/harness/sessions'
import { parseHash } from '#types/ids'
import { type Row, row } from './format.ts'

const transfers = 2_000
const rounds = 15

const slot = (index: number): ReturnType<typeof parseHash> => parseHash(`0x${index.toString(16).padStart(64, '0')}`)
/** L1Block as a live chain has it, without code: prices and scalars stay as they are here. */
const l1Block = testAccount(l1BlockAddress, {
  nonce: 1n,
  storage: new Map([
    [slot(1), 1_000_000_000n],
    [slot(3), (1_368n << 96n) | (810_949n << 64n)],
    [slot(7), 1n],
    [slot(8), 400n << 96n],
  ]),
})

/** A chain of `transfers` rich accounts and a block in which each pays the next. */
function chainOf(): { readonly execute: () => { readonly transactions: readonly unknown[]; readonly hash: string } } {
  const schedule = scheduleTo('jovian')
  const names = Array.from({ length: transfers }, (_, i) => `account ${i}`)
  const rich = names.map((name) => testAccount(accountOf(name), { balance: 10n ** 18n }))
  const genesis = smallGenesis(schedule, [...rich, l1Block])
  const config = configOfGenesis(genesis)
  const { header, hash } = genesisBlock(genesis, schedule)
  const { state } = genesisState(genesis.accounts)
  const raws = names.map((name, i) => signedBy(name, { to: accountOf(`account ${(i + 1) % transfers}`), value: 1_000n + BigInt(i) }))
  const attributes = attributesAt(schedule, 1, raws)
  const deps = { evm: createReferenceEvm(), config, senders: createSenders({ maxBytes: 32 * 2 ** 20 }) }
  const input = {
    timestamp: attributes.timestamp,
    beneficiary: attributes.suggestedFeeRecipient,
    prevRandao: attributes.prevRandao,
    gasLimit: 120_000_000n,
    extraData: header.extraData,
    ...(attributes.parentBeaconBlockRoot && { parentBeaconBlockRoot: attributes.parentBeaconBlockRoot }),
    transactions: attributes.transactions,
  }
  return {
    execute() {
      const result = executeBlock(deps, { header, hash, state }, input)
      if (result.kind === 'invalid') throw new Error(result.reason)
      return result.block
    },
  }
}

export async function run(): Promise<readonly Row[]> {
  const { execute } = chainOf()
  for (let warm = 0; warm < 5; warm++) execute()
  const runs = Array.from({ length: rounds }, () => {
    const startMs = performance.now()
    execute()
    return (transfers * 1_000) / (performance.now() - startMs)
  })
  return [row(`plain transfers executed a second, blocks of ${transfers}`, 'transfers/s', runs)]
}
