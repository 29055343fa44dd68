import { type Cause, inBoth, inOurs, isObject, ofObject, without } from './causes.ts'

/** Causes of both client families, which apply last. */
export const commonCauses: readonly Cause[] = [
  inBoth('each client has its own version', /^(web3_clientVersion|optimism_version)$/, (result) => typeof result),
  {
    name: 'this node serves more namespaces',
    methods: /^rpc_modules$/,
    right({ theirs, ours }) {
      if (!('result' in theirs && 'result' in ours && isObject(theirs.result) && isObject(ours.result))) return { theirs, ours }
      const known = theirs.result
      return { theirs, ours: { result: Object.fromEntries(Object.entries(ours.result).filter(([name]) => name in known)) } }
    },
  },
  inOurs(
    'the sync status has the trust in the start of the state',
    /^optimism_syncStatus$/,
    ofObject((status) => without(status, 'trust')),
  ),
  {
    name: 'an internal error has no data',
    methods: /./,
    right({ theirs, ours }) {
      if (!('error' in theirs && 'error' in ours) || theirs.error.code !== -32603 || theirs.error.data !== undefined)
        return { theirs, ours }
      const { data: _data, ...error } = ours.error
      return { theirs, ours: { error } }
    },
  },
]
