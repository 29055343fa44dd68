// Random blocks: contracts of the interpreter fuzzer, called by deposits and signed transactions, some of them at a limit.
import {
  baseFeeVault,
  beaconRootsContract,
  depositorAccount,
  historyStorageContract,
  l1FeeVault,
  operatorFeeVault,
  sequencerFeeVault,
} from '#chainspec/addresses'
import { bytesFromBigint, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { CallMessage } from '#rpc/callPorts'
import { accountOf, hashOf } from '#test/harness/chain/blocks'
import type { CaseAccount, CaseMessage } from '#test/harness/evm/case'
import { addressOf } from '#test/harness/evm/host'
import { type Address, hashFromBytes } from '#types/ids'
import type { Authorization } from '#types/transaction'
import type { Corpus } from '../fuzz/evm/corpus.ts'
import { type Random, randomOf } from '../fuzz/evm/random.ts'
import { caseIn } from '../fuzz/evm/world.ts'
import type { BlockCase, CaseBlock, CaseTransaction } from './blockCase.ts'
import { type Prices, randomPrices, withPrices } from './prices.ts'
import { type AnyFields, attributes, authorize, deposit, evmForkOf, hasDelegations, people, signedBy } from './transactions.ts'
import { type Twisted, twist } from './twists.ts'
import { type OracleFork, oracleForks } from './wire.ts'

const ether = 10n ** 18n
const vaults = [sequencerFeeVault, baseFeeVault, l1FeeVault, operatorFeeVault]
/** Runs SSTORE(NUMBER, first word), in place of the contracts of EIP-4788 and EIP-2935. */
const notesItsInput = fromHex('0x600035435500')
/** Runs SSTORE(first word, BLOCKHASH(NUMBER − second word)), then LOG1 with the same words. */
export const blockHashNoter: Address = addressOf(0xb1)
export const blockHashNoterCode: Uint8Array = fromHex('0x602035430340806000355560005260203560206000a100')

export const usualBlock: CaseBlock = {
  number: 1_000,
  timestamp: 1_000_000,
  beneficiary: sequencerFeeVault,
  prevRandao: hashOf('randao'),
  gasLimit: 60_000_000n,
  baseFee: 1_000n,
  parentHash: hashOf('parent'),
  parentBeaconBlockRoot: hashOf('beacon'),
}

function randomBlock(random: Random): CaseBlock {
  return {
    ...usualBlock,
    number: random.pick([1, 2, 255, 256, 257, 1_000, 40_000_000]),
    beneficiary: random.percent(80) ? sequencerFeeVault : random.pick([...vaults, accountOf('alice'), addressOf(0x22), addressOf(0xcb)]),
    gasLimit: random.percent(80) ? 60_000_000n : BigInt(random.between(2_000_000, 40_000_000)),
    baseFee: random.percent(80) ? 1_000n : random.pick([0n, 1n, 7n, 5_000_000_000n]),
  }
}

/** Removes code of EIP-7702 before Prague: no chain has any then. */
function withoutDelegations(fork: OracleFork, accounts: ReadonlyMap<Address, CaseAccount>): Map<Address, CaseAccount> {
  const isDelegated = ({ code }: CaseAccount): boolean => code[0] === 0xef
  return new Map([...accounts].filter(([, account]) => hasDelegations(fork) || !isDelegated(account)))
}

function accountsAround(
  random: Random,
  fork: OracleFork,
  given: ReadonlyMap<Address, CaseAccount>,
  prices: Prices,
): Map<Address, CaseAccount> {
  const accounts = withPrices(withoutDelegations(fork, given), prices)
  for (const name of people) {
    const nonce = random.percent(70) ? 0n : BigInt(random.below(300))
    accounts.set(accountOf(name), {
      nonce,
      balance: random.percent(90) ? 1_000n * ether : 10n ** 14n,
      code: emptyBytes,
      storage: new Map(),
    })
  }
  accounts.set(blockHashNoter, { nonce: 1n, balance: 0n, code: blockHashNoterCode, storage: new Map() })
  for (const address of vaults) {
    if (random.percent(50)) accounts.set(address, { nonce: 1n, balance: BigInt(random.below(1_000)), code: emptyBytes, storage: new Map() })
  }
  if (random.percent(50)) {
    for (const address of [beaconRootsContract, historyStorageContract]) {
      accounts.set(address, { nonce: 1n, balance: 0n, code: notesItsInput, storage: new Map() })
    }
  }
  return accounts
}

/** State shared by the transactions of a block while they are generated. */
export type Writing = {
  readonly random: Random
  readonly fork: OracleFork
  readonly prices: Prices
  readonly block: CaseBlock
  readonly accounts: Map<Address, CaseAccount>
  /** Next nonce of each account, if no transaction is rejected. */
  readonly nonces: Map<string, bigint>
}

const nonceOf = ({ accounts, nonces }: Writing, name: string): bigint => nonces.get(name) ?? accounts.get(accountOf(name))?.nonce ?? 0n

function randomAuthorizations(writing: Writing): Authorization[] {
  const { random, accounts } = writing
  const codes = [...accounts.keys()]
  return Array.from({ length: random.between(1, 4) }, () => {
    const name = random.pick([...people, 'nobody', 'new'])
    const nonce = nonceOf(writing, name)
    const authorization = authorize(name, {
      address: random.percent(15) ? (`0x${'0'.repeat(40)}` as Address) : random.pick(codes),
      nonce: random.percent(80) ? nonce : random.pick([nonce + 1n, nonce + 2n, 2n ** 64n - 1n, 2n ** 64n - 2n]),
      ...(random.percent(30) && { chainId: random.pick([0n, 1n, 2n ** 64n, 2n ** 256n - 1n]) }),
    })
    if (random.percent(90)) return authorization
    return {
      ...authorization,
      ...random.pick([{ yParity: 2 }, { yParity: 27 }, { r: 0n }, { s: 0n }, { s: 2n ** 256n - 1n }, { r: authorization.s }]),
    }
  })
}

/** Gas limit of a message plus intrinsic gas of the data. */
const around = (data: Uint8Array): bigint => BigInt(60_000 + 18 * data.length)

function depositOf({ random }: Writing, message: CaseMessage): CaseTransaction {
  const from = random.percent(50)
    ? message.from
    : random.pick([...people.map(accountOf), addressOf(0x22), addressOf(0xd0), depositorAccount])
  const mint = random.percent(50) ? 0n : random.pick([1n, ether, BigInt(random.below(1_000_000))])
  const { to, value, data } = message
  return deposit({ from, to, value, data, mint, gasLimit: message.gas + around(data), sourceHash: hashFromBytes(random.bytes(32)) })
}

function signedOf(writing: Writing, message: CaseMessage): CaseTransaction {
  const { random, fork, block, nonces } = writing
  const by = random.pick(people)
  const nonce = nonceOf(writing, by)
  nonces.set(by, nonce + 1n)
  const { to, value, data, warm = [] } = message
  const type = random.pick([0, 1, 2, 2, hasDelegations(fork) && to !== null ? 4 : 2] as const)
  const maxFeePerGas = block.baseFee + BigInt(random.below(1_000))
  const fields: AnyFields = { type, nonce, to, value, data, maxFeePerGas, gasPrice: maxFeePerGas, gasLimit: message.gas + around(data) }
  const tip = { maxPriorityFeePerGas: random.percent(80) ? BigInt(random.below(500)) % (maxFeePerGas + 1n) : 0n }
  const list = { accessList: warm, authorizationList: type === 4 ? randomAuthorizations(writing) : [] }
  return signedBy(by, { ...fields, ...tip, ...list, gasLimit: message.gas + around(data) + BigInt(25_000 * list.authorizationList.length) })
}

function readsBlockHash({ random, block }: Writing): CaseMessage {
  const back = random.pick([0, 1, 2, 128, 255, 256, 257, 258, block.number, block.number + 1])
  const words = [BigInt(random.below(4)), BigInt(back)].map((word) => bytesFromBigint(word, 32))
  return { from: addressOf(0x11), to: blockHashNoter, value: 0n, data: Uint8Array.of(...words.flatMap((word) => [...word])), gas: 100_000n }
}

function transactionOf(writing: Writing, message: CaseMessage): Twisted {
  const { random } = writing
  const transaction = random.percent(45) ? depositOf(writing, message) : signedOf(writing, message)
  return random.percent(35) ? twist(writing, transaction) : { transaction }
}

function callOf(random: Random, { from, to, value, data, gas, warm = [] }: CaseMessage): CallMessage {
  const gasPrice = random.percent(80) ? 0n : BigInt(random.below(2_000))
  return { from, to, value, data, gasLimit: gas + around(data), gasPrice, accessList: warm, authorizationList: [] }
}

/** Returns the case of a seed and a number. The same corpus gives the same case. */
export function randomCase(seed: number, index: number, corpus: Corpus): BlockCase {
  const random = randomOf(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index, 0x85ebca6b) ^ 0x0bac1e)
  const fork = oracleForks[index % oracleForks.length] ?? 'azul'
  const worlds = Array.from({ length: random.between(1, 2) }, () => caseIn(evmForkOf(fork), random, corpus))
  const prices = randomPrices(random)
  const block = randomBlock(random)
  const accounts = accountsAround(random, fork, new Map(worlds.flatMap((world) => [...world.accounts])), prices)
  const writing: Writing = { random, fork, prices, block, accounts, nonces: new Map() }
  const messages = worlds.flatMap((world) => world.messages).filter(({ gas }) => gas < 30_000_000n)
  if (random.percent(15)) messages.push(readsBlockHash(writing))
  const calls = random.percent(20) ? messages.slice(0, 1).map((message) => callOf(random, message)) : []
  const transactions = [attributes]
  for (const message of messages) {
    const { transaction, account } = transactionOf(writing, message)
    transactions.push(transaction)
    if (account) accounts.set(...account)
  }
  return { fork, block, accounts, transactions, calls }
}
