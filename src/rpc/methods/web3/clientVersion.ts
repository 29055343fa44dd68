import { text } from '../../codecs/values.ts'
import { ethMethod } from '../define.ts'

export const clientVersion = ethMethod({
  name: 'web3_clientVersion',
  doc: 'Name, version, platform and runtime of this node.',
  params: [],
  result: text,
  cost: 'instant',
  example: { params: [], result: 'basalt/v0.1.0/linux-x64/node-v24' },
  run: (context) => context.clientVersion,
})
