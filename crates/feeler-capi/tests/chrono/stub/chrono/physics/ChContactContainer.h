#include <chrono/physics/ChSystem.h>
