import { keccak256 } from '#lib/keccak'
import { bytes, text } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { type Method, param } from '../../registry.ts'
import { ethMethod } from '../define.ts'

const clientVersion = ethMethod({
  name: 'web3_clientVersion',
  doc: 'Name, version, platform and runtime of this node.',
  params: [],
  result: text,
  cost: 'instant',
  example: { params: [], result: 'basalt/v0.1.0/linux-x64/node-v24' },
  run: (context) => context.clientVersion,
})

const sha3 = ethMethod({
  name: 'web3_sha3',
  doc: 'Keccak-256 of bytes.',
  params: [param('data', bytes)],
  result: bytes,
  cost: 'instant',
  example: { params: ['0x68656c6c6f'], result: '0x1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8' },
  run: (_context, data) => keccak256(data),
})

/** `web3_*`: the client's version and Keccak-256. */
export const web3Methods: readonly Method<EthContext>[] = [clientVersion, sha3]
