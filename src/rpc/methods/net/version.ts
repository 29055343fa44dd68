import { text } from '../../codecs/values.ts'
import { ethMethod } from '../define.ts'

export const netVersion = ethMethod({
  name: 'net_version',
  doc: 'Network id: the chain id as a decimal number.',
  params: [],
  result: text,
  cost: 'instant',
  example: { params: [], result: '8453' },
  run: (context) => context.chainId.toString(),
})
