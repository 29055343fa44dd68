import { randomBytes } from 'node:crypto'
import { features, type Scope, scopeNames } from '#devnet/b20/names'
import { describePolicy } from '#devnet/b20/policy'
import { createToken, mint as mintTokens, readDecimals, readToken, type TokenKind, transfer as transferTokens } from '#devnet/b20/token'
import { toHex } from '#lib/hex'
import { type Hash, parseAddress, parseHash } from '#types/ids'
import type { Command } from '../command.ts'
import { connect } from '../devnet/connect.ts'
import { activated, senderFlags, senderOf, sentFacts } from '../devnet/sender.ts'
import { fromUnits, inUnits } from '../devnet/units.ts'
import { cliFault } from '../faults.ts'
import type { FlagName } from '../flags.ts'
import { printResult } from '../output.ts'
import { needed, readFlags } from '../readFlags.ts'
import { policy } from './devnetB20Policy.ts'

const creating = ['name', 'symbol', 'decimals', 'currency', 'admin', 'salt', ...senderFlags] as const satisfies readonly FlagName[]
const defaultDecimals = 18

function kindOf(decimals: number | undefined, currency: string | undefined): TokenKind {
  if (currency === undefined) return { kind: 'asset', decimals: decimals ?? defaultDecimals }
  if (decimals !== undefined) {
    throw cliFault('CONFLICTING_FLAGS', { flags: ['currency', 'decimals'], rule: 'a stablecoin always has 6 decimals' })
  }
  return { kind: 'stablecoin', currency }
}

const create: Command = {
  name: 'create',
  doc: 'create a token; activates the feature first, through the admin account, if it is not active',
  flags: creating,
  async run(io, raw): Promise<number> {
    const given = readFlags(creating, raw, io.env)
    const [name, symbol] = [needed('name', given.name), needed('symbol', given.symbol)]
    const of = kindOf(given.decimals, given.currency)
    const sender = await senderOf(io, given)
    const admin = parseAddress(given.admin ?? sender.account.address)
    const salt = parseHash(given.salt ?? toHex(randomBytes(32)))
    const activation = await activated(sender, features[of.kind])
    const { token, receipt } = await createToken(sender.devnet, sender.account, { name, symbol, admin, salt, of })
    printResult(io, given.json, { ...activation, token, admin, salt, ...sentFacts(receipt) })
    return 0
  },
}

const minting = ['token', 'to', 'amount', ...senderFlags] as const satisfies readonly FlagName[]

const mint: Command = {
  name: 'mint',
  doc: 'mint tokens; the sender must be a minter',
  flags: minting,
  async run(io, raw): Promise<number> {
    const given = readFlags(minting, raw, io.env)
    const [token, to, amount] = [needed('token', given.token), needed('to', given.to), needed('amount', given.amount)]
    const { devnet, account } = await senderOf(io, given)
    const digits = await readDecimals(devnet, parseAddress(token))
    const receipt = await mintTokens(devnet, account, parseAddress(token), parseAddress(to), fromUnits(amount, digits))
    printResult(io, given.json, { token, to, amount, ...sentFacts(receipt) })
    return 0
  },
}

const memoBytes = 32
/** Returns a memo as 32 bytes: a text with zeros after it. */
const memoOf = (memo: string): Hash =>
  parseHash(
    /^0x[0-9a-f]{64}$/i.test(memo)
      ? memo.toLowerCase()
      : `0x${Buffer.from(memo)
          .toString('hex')
          .padEnd(2 * memoBytes, '0')}`,
  )

const transferring = ['token', 'to', 'amount', 'memo', ...senderFlags] as const satisfies readonly FlagName[]

const transfer: Command = {
  name: 'transfer',
  doc: 'transfer tokens, with or without a memo',
  flags: transferring,
  async run(io, raw): Promise<number> {
    const given = readFlags(transferring, raw, io.env)
    const [token, to, text] = [needed('token', given.token), needed('to', given.to), needed('amount', given.amount)]
    const { devnet, account } = await senderOf(io, given)
    const amount = fromUnits(text, await readDecimals(devnet, parseAddress(token)))
    const memo = given.memo === undefined ? undefined : memoOf(given.memo)
    const receipt = await transferTokens(devnet, account, parseAddress(token), { to: parseAddress(to), amount, memo })
    printResult(io, given.json, { from: account.address, to, amount: text, ...(memo && { memo }), ...sentFacts(receipt) })
    return 0
  },
}

const showing = ['token', 'control.port', 'json'] as const satisfies readonly FlagName[]

const show: Command = {
  name: 'show',
  doc: "print a token: name, symbol, decimals, supply, policies, and the balances of the devnet's accounts",
  flags: showing,
  async run(io, raw): Promise<number> {
    const given = readFlags(showing, raw, io.env)
    const token = needed('token', given.token)
    const devnet = await connect(io, given['control.port'])
    const { name, symbol, decimals, currency, supply, balances, policies } = await readToken(
      devnet,
      parseAddress(token),
      devnet.facts.accounts.map(parseAddress),
    )
    const common = { token, name, symbol, decimals, ...(currency !== undefined && { currency }), supply: inUnits(supply, decimals) }
    const shown = balances.map(({ address, balance }) => ({ address, balance: inUnits(balance, decimals) }))
    const ids = scopeNames.map((scope): [Scope, bigint] => [scope, policies[scope]])
    if (given.json) {
      const policyIds = Object.fromEntries(ids.map(([scope, id]) => [scope, id.toString()]))
      io.out.write(`${JSON.stringify({ ...common, policies: policyIds, balances: shown })}\n`)
      return 0
    }
    printResult(io, false, common)
    io.out.write('policies:\n')
    for (const [scope, id] of ids) io.out.write(`  ${scope.padEnd(16)} ${id} (${describePolicy(id)})\n`)
    io.out.write('balances:\n')
    for (const [index, { address, balance }] of shown.entries()) io.out.write(`  ${String(index).padStart(2)}  ${address}  ${balance}\n`)
    return 0
  },
}

export const b20: Command = {
  name: 'b20',
  doc: 'create and use B20 tokens on a running devnet',
  flags: [],
  commands: [create, mint, transfer, policy, show],
  run: () =>
    Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt devnet b20 needs a command: create, mint, transfer, policy or show' })),
}
