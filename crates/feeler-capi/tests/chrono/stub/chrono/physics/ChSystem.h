// Stub of Chrono with the declarations that feeler_chrono.hpp uses. It stores the contacts that are added and
// computes nothing.
#ifndef STUB_CH_SYSTEM_H
#define STUB_CH_SYSTEM_H

#include <memory>
#include <vector>

namespace chrono {

class ChVector3d {
public:
    ChVector3d(double x = 0, double y = 0, double z = 0) : v{x, y, z} {}
    double x() const { return v[0]; }
    double y() const { return v[1]; }
    double z() const { return v[2]; }

private:
    double v[3];
};

class ChQuaterniond {
public:
    ChQuaterniond(double e0 = 1, double e1 = 0, double e2 = 0, double e3 = 0) : q{e0, e1, e2, e3} {}
    double e0() const { return q[0]; }
    double e1() const { return q[1]; }
    double e2() const { return q[2]; }
    double e3() const { return q[3]; }

private:
    double q[4];
};

class ChFrameMoving {
public:
    const ChVector3d &GetPos() const { return pos; }
    const ChQuaterniond &GetRot() const { return rot; }
    ChVector3d pos;
    ChQuaterniond rot;
};

class ChCollisionModel {};
class ChCollisionShape {};
class ChContactMaterial {};

class ChBody {
public:
    virtual ~ChBody() {}
    virtual const ChFrameMoving &GetFrameRefToAbs() const { return frame; }
    std::shared_ptr<ChCollisionModel> GetCollisionModel() const { return model; }
    ChFrameMoving frame;
    std::shared_ptr<ChCollisionModel> model;
};

class ChCollisionInfo {
public:
    ChCollisionModel *modelA = nullptr;
    ChCollisionModel *modelB = nullptr;
    ChCollisionShape *shapeA = nullptr;
    ChCollisionShape *shapeB = nullptr;
    ChVector3d vpA, vpB, vN;
    double distance = 0;
    double eff_radius = 0.1;
    float *reaction_cache = nullptr;
};

class ChContactContainer {
public:
    void AddContact(const ChCollisionInfo &info, std::shared_ptr<ChContactMaterial> a,
        std::shared_ptr<ChContactMaterial> b) {
        added.push_back(info);
        materials.push_back({a, b});
    }
    std::vector<ChCollisionInfo> added;
    std::vector<std::pair<std::shared_ptr<ChContactMaterial>, std::shared_ptr<ChContactMaterial>>> materials;
};

class ChSystem {
public:
    class CustomCollisionCallback {
    public:
        virtual ~CustomCollisionCallback() {}
        virtual void OnCustomCollision(ChSystem *) {}
    };
    void RegisterCustomCollisionCallback(std::shared_ptr<CustomCollisionCallback> callback) {
        callbacks.push_back(callback);
    }
    std::shared_ptr<ChContactContainer> GetContactContainer() const { return container; }
    double GetStep() const { return step; }
    const ChVector3d &GetGravitationalAcceleration() const { return gravity; }
    // Gravity moves a body by 0.04 mm in this step.
    double step = 2e-3;
    ChVector3d gravity{0, 9.81, 0};

    // Of the stub: as where contacts are looked for.
    const std::vector<ChCollisionInfo> &look() {
        container->added.clear();
        container->materials.clear();
        for (const auto &callback : callbacks) callback->OnCustomCollision(this);
        return container->added;
    }

private:
    std::vector<std::shared_ptr<CustomCollisionCallback>> callbacks;
    std::shared_ptr<ChContactContainer> container = std::make_shared<ChContactContainer>();
};

} // namespace chrono

#endif
