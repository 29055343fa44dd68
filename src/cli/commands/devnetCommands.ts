import { testMnemonic } from '#devnet/accounts'
import { deposit as depositTo } from '#devnet/deposit'
import type { DevnetAccount } from '#devnet/ports'
import type { RemoteDevnet } from '#devnet/remoteDevnet'
import { accountOf, readBalances, sendOnL2 } from '#devnet/wallet'
import { withdraw as withdrawFrom } from '#devnet/withdrawal'
import { fromHex } from '#lib/hex'
import { type Address, parseAddress } from '#types/ids'
import type { Command, Io } from '../command.ts'
import { connect } from '../devnet/connect.ts'
import { inUnits } from '../devnet/units.ts'
import { cliFault } from '../faults.ts'
import { type FlagName, type FlagValues, flags, type RawFlags } from '../flags.ts'
import { printResult } from '../output.ts'
import { readFlags } from '../readFlags.ts'
import { b20 } from './devnetB20.ts'
import { exportChain } from './devnetExport.ts'

const sending = ['from', 'to', 'value', 'data', 'mnemonic', 'control.port', 'json'] as const satisfies readonly FlagName[]
type Sending = FlagValues<(typeof sending)[number]>

type Ready = { readonly devnet: RemoteDevnet; readonly account: DevnetAccount; readonly given: Sending }

async function ready(io: Io, raw: RawFlags): Promise<Ready> {
  const given = readFlags(sending, raw, io.env)
  const devnet = await connect(io, given['control.port'])
  return { devnet, account: accountOf(devnet, given.mnemonic ?? testMnemonic, given.from ?? '0'), given }
}

const wishOf = ({ value = 0n, data = '0x' }: Sending): { value: bigint; data: Uint8Array } => ({ value, data: fromHex(data) })
const receiver = ({ given, account }: Ready): Address => parseAddress(given.to ?? account.address)

const inEther = (wei: bigint): string => inUnits(wei, 18)

const deposit: Command = {
  name: 'deposit',
  doc: 'deposit through the portal on L1, and wait until L2 has executed it',
  flags: sending,
  async run(io, raw): Promise<number> {
    const at = await ready(io, raw)
    const to = receiver(at)
    const { l1, l2 } = await depositTo(at.devnet, at.account, { to, ...wishOf(at.given) })
    printResult(io, at.given.json, {
      from: at.account.address,
      to,
      value: (at.given.value ?? 0n).toString(),
      l1Transaction: l1.hash,
      l1Block: l1.block.number,
      transaction: l2.hash,
      block: l2.block.number,
    })
    return 0
  },
}

const tx: Command = {
  name: 'tx',
  doc: 'send a transaction on L2, and wait until it is in a block',
  flags: sending,
  async run(io, raw): Promise<number> {
    const { devnet, account, given } = await ready(io, raw)
    if (given.to === undefined && given.data === undefined) {
      throw cliFault('MISSING_FLAG', { flag: 'to', variable: flags.to.env, doc: 'the receiver; --data without --to creates a contract' })
    }
    const to = given.to === undefined ? null : parseAddress(given.to)
    const { hash, block, gasUsed, contract } = await sendOnL2(devnet, account, { to, ...wishOf(given) })
    printResult(io, given.json, {
      from: account.address,
      ...(to && { to }),
      ...(contract && { contract }),
      value: (given.value ?? 0n).toString(),
      transaction: hash,
      block: block.number,
      gasUsed: gasUsed.toString(),
    })
    return 0
  },
}

const withdraw: Command = {
  name: 'withdraw',
  doc: 'initiate a withdrawal on L2, wait until its block is safe, and prove it against the output root (nothing happens on L1)',
  flags: sending,
  async run(io, raw): Promise<number> {
    const at = await ready(io, raw)
    const proved = await withdrawFrom(at.devnet, at.account, { to: receiver(at), ...wishOf(at.given) })
    const { withdrawal, receipt, output, accountProof, storageProof, ...rest } = proved
    const { nonce, sender, target, value, gasLimit } = withdrawal
    const facts = {
      transaction: receipt.hash,
      block: receipt.block.number,
      withdrawalHash: rest.withdrawalHash,
      nonce: `0x${nonce.toString(16)}`,
      sender,
      target,
      value: value.toString(),
      gasLimit: gasLimit.toString(),
      outputRoot: rest.outputRoot,
      stateRoot: output.stateRoot,
      storageRoot: output.messagePasserStorageRoot,
      blockHash: output.blockHash,
      storageSlot: rest.storageSlot,
    }
    if (at.given.json) io.out.write(`${JSON.stringify({ ...facts, accountProof, storageProof })}\n`)
    else {
      printResult(io, false, facts)
      const nodes = (title: string, proof: readonly string[]): string => `${title}:\n${proof.map((node) => `  ${node}\n`).join('')}`
      io.out.write(nodes('accountProof', accountProof) + nodes('storageProof', storageProof))
      io.out.write('verified: the proofs lead from the output root to the withdrawal\n')
    }
    return 0
  },
}

const listing = ['control.port', 'json'] as const satisfies readonly FlagName[]

const accounts: Command = {
  name: 'accounts',
  doc: 'print the balances of the accounts on both chains',
  flags: listing,
  async run(io, raw): Promise<number> {
    const given = readFlags(listing, raw, io.env)
    const balances = await readBalances(await connect(io, given['control.port']))
    if (given.json) {
      const rows = balances.map(({ address, l1Wei, l2Wei }) => ({ address, l1: l1Wei.toString(), l2: l2Wei.toString() }))
      io.out.write(`${JSON.stringify(rows)}\n`)
      return 0
    }
    io.out.write(`${''.padEnd(48)}${'ETH on L1'.padEnd(28)}ETH on L2\n`)
    for (const [index, { address, l1Wei, l2Wei }] of balances.entries()) {
      io.out.write(`${String(index).padStart(2)}  ${address}  ${inEther(l1Wei).padEnd(26)}  ${inEther(l2Wei)}\n`)
    }
    return 0
  },
}

/** Commands for a devnet that runs in another process. */
export const devnetCommands: readonly Command[] = [tx, deposit, withdraw, accounts, b20, exportChain]
