import { interpreters } from '../harness/evmInterpreters.ts'
import { evmMessagesContract } from './evmMessages.ts'
import { evmSessionContract } from './evmSession.ts'
import { evmStorageContract } from './evmStorage.ts'

for (const { name, create } of interpreters) {
  evmMessagesContract(name, create())
  evmStorageContract(name, create())
  evmSessionContract(name, create)
}
