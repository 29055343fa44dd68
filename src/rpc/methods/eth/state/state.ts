import type { Address } from '#types/ids'
import type { TransactionPool } from '#types/transactionPool'
import { type BlockParam, blockId, latest } from '../../../codecs/blockId.ts'
import { address, bytes, listOf, quantity, slotKey, word } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { type Method, optionalParam, param } from '../../../registry.ts'
import { proofResult } from '../../../results/proof.ts'
import { ethMethod } from '../../define.ts'
import { onState } from '../atBlock.ts'

const account = param('address', address)
const block = optionalParam('block', blockId, latest, 'latest')

/** Maximum number of slots of eth_getProof. */
const maxProvenSlots = 1_024

const getBalance = ethMethod({
  name: 'eth_getBalance',
  doc: 'Balance of an account after a block, in wei.',
  params: [account, block],
  result: quantity,
  cost: 'point-read',
  example: { params: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8', 'latest'], result: '0xde0b6b3a7640000' },
  run: (context, of, at) => onState(context, at, (state) => state.account(of)?.balance ?? 0n),
})

const nonceOf = (context: EthContext, of: Address, at: BlockParam): bigint =>
  onState(context, at, (state) => state.account(of)?.nonce ?? 0n)

/** Reads the pool before the state, so that a transaction entering a block in between counts in the state. */
async function nonceAfterPool(context: EthContext, pool: TransactionPool, of: Address, at: BlockParam): Promise<bigint> {
  const inPool = (await pool.nextNonce(of)) ?? 0n
  const inState = nonceOf(context, of, at)
  return inPool > inState ? inPool : inState
}

const getTransactionCount = ethMethod({
  name: 'eth_getTransactionCount',
  doc: 'Nonce of an account after a block: the number of transactions it has sent (for a contract: contracts it has created). `pending` includes the executable transactions of the pool.',
  params: [account, block],
  result: quantity,
  cost: 'point-read',
  example: { params: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8', 'latest'], result: '0x1' },
  run(context, of, at): bigint | Promise<bigint> {
    const isPending = at.kind === 'tag' && at.tag === 'pending'
    if (isPending && context.pool) return nonceAfterPool(context, context.pool, of, at)
    return nonceOf(context, of, at)
  },
})

const getCode = ethMethod({
  name: 'eth_getCode',
  doc: 'Code of an account after a block.',
  params: [account, block],
  result: bytes,
  cost: 'point-read',
  example: { params: ['0x4200000000000000000000000000000000000015', 'latest'], result: '0x6001' },
  run: (context, of, at) => onState(context, at, (state) => state.code(of)),
})

const getStorageAt = ethMethod({
  name: 'eth_getStorageAt',
  doc: 'Value of a storage slot after a block.',
  params: [account, param('slot', slotKey), block],
  result: word,
  cost: 'point-read',
  example: {
    params: ['0x4200000000000000000000000000000000000015', '0x0', 'latest'],
    result: '0x000000000000000000000000000000000000000000000000000000000000002a',
  },
  run: (context, of, key, at) => onState(context, at, (state) => state.slot(of, key.slot)),
})

const getProof = ethMethod({
  name: 'eth_getProof',
  doc: 'An account and storage slots after a block, with Merkle proofs against its state root (EIP-1186).',
  params: [account, param('slots', listOf(slotKey, maxProvenSlots)), block],
  result: proofResult,
  cost: 'block-read',
  example: {
    params: ['0x00000000000000000000000000000000000000ff', ['0x0'], 'latest'],
    result: {
      address: '0x00000000000000000000000000000000000000ff',
      balance: '0x0',
      codeHash: '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
      nonce: '0x0',
      storageHash: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
      accountProof: ['0x80'],
      storageProof: [{ key: '0x0', value: '0x0', proof: ['0x80'] }],
    },
  },
  run: (context, of, keys, at) =>
    onState(context, at, (state) => ({
      address: of,
      keys,
      proof: state.prove(
        of,
        keys.map(({ slot }) => slot),
      ),
    })),
})

export const stateMethods: readonly Method<EthContext>[] = [getBalance, getTransactionCount, getCode, getStorageAt, getProof]
